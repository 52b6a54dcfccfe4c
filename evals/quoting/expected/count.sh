# Prints how many files were named.
count=0
for name in "$@"; do
    count=$((count + 1))
done
echo "$count"
