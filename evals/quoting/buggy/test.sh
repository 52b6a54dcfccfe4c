count=$(sh count.sh one "two words")
if [ "$count" != 2 ]; then
    echo "count.sh says $count, and 2 is expected"
    exit 1
fi
