for pair in 1:1 4:10 10:55; do
    sum=$(sh sum.sh "${pair%:*}")
    if [ "$sum" != "${pair#*:}" ]; then
        echo "sum.sh ${pair%:*} says $sum, and ${pair#*:} is expected"
        exit 1
    fi
done
