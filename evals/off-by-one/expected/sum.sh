# Adds the numbers from 1 to the first argument.
sum=0
i=1
while [ "$i" -le "$1" ]; do
    sum=$((sum + i))
    i=$((i + 1))
done
echo "$sum"
