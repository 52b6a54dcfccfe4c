while read -r name is value; do
    if [ "$name" = port ] && [ "$value" = 8080 ]; then
        exit 0
    fi
done < server.ini
echo "server.ini does not name the port 8080"
exit 1
