read -r first < greeting.txt
if [ "$first" != "Hello, world!" ]; then
    echo "greeting.txt says: $first"
    exit 1
fi
