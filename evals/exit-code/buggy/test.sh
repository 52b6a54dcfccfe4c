sh check.sh test.sh || exit 1
sh check.sh no-such-file
code=$?
if [ "$code" != 3 ]; then
    echo "check.sh ended with $code, and 3 is expected"
    exit 1
fi
