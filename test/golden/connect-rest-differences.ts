/** Steps of the recorded scenarios that this worker answers otherwise on purpose: `scenario/step`, and why. */
export const CONNECT_REST_DIFFERENCES: Readonly<Record<string, string>> = {
  'invalid-configs/null-value':
    'JSON null is refused at every key (400); Java takes it for keys it knows, and the connector then fails with a null pointer',
  'validate-sink/null-values': 'the same in a validation: null is an error at every key, not at unknown ones alone',
  'lifecycle/stopped-task-restart':
    'a stopped connector has no task to restart: 404, where Java answers 409 as if waiting would help',
  'overrides/producer':
    'a client setting that cannot be read is an error at its key in the answer, where Java answers the whole request with 500',
  'errors-dlq/dlq':
    'a dead letter has one more header, sluice.timestamp: the time of the record, which a topic with LogAppendTime replaces',
  'errors-dlq/dlq-2': 'the same',
};
