/** The protocol version that clients of InfluxDB 1 look for; it says nothing of this program. */
export const INFLUX_HEADERS = { 'X-Influxdb-Version': '1.8.10', 'X-Influxdb-Build': 'OSS' } as const;
