# Tells by its exit code whether a file exists.
if [ ! -e "$1" ]; then
    echo "there is no $1" >&2
    exit 3
fi
echo "$1 is there"
