// influxdb1-client for Go: creates its database, and writes batches. Arguments: host, port, user, password, database, points.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	client "github.com/influxdata/influxdb1-client/v2"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	database := os.Args[5]
	count, err := strconv.Atoi(os.Args[6])
	check(err)
	c, err := client.NewHTTPClient(client.HTTPConfig{Addr: "http://" + os.Args[1] + ":" + os.Args[2], Username: os.Args[3], Password: os.Args[4]})
	check(err)
	defer c.Close()
	_, _, err = c.Ping(5 * time.Second)
	check(err)
	answer, err := c.Query(client.NewQuery(fmt.Sprintf("CREATE DATABASE %q", database), "", ""))
	check(err)
	check(answer.Error())
	for start := 0; start < count; start += 1000 {
		batch, err := client.NewBatchPoints(client.BatchPointsConfig{Database: database, Precision: "ms"})
		check(err)
		for i := start; i < start+1000 && i < count; i++ {
			point, err := client.NewPoint("golang", map[string]string{"host": fmt.Sprintf("h %d", i%7)},
				map[string]interface{}{"n": i, "f": float64(i) / 2, "s": `a "b"`}, time.UnixMilli(int64(i+1)))
			check(err)
			batch.AddPoint(point)
		}
		check(c.Write(batch))
	}
}
