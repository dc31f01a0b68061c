#!/usr/bin/env bash
# The command that Strimzi's operator gives to the containers of a KafkaConnect resource; the operator mounts the properties file.
set -e
# The name by which the other workers reach this pod, for ${strimzienv:ADVERTISED_HOSTNAME} in the file.
ADVERTISED_HOSTNAME=$(hostname -f | cut -d . -f 1-4)
export ADVERTISED_HOSTNAME
exec node /opt/sluice/dist/src/cli.js start /opt/kafka/custom-config/kafka-connect.properties
