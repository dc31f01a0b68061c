import type { ConnectorConfig, OptionResult } from '../../src/index.ts';

/** Options of Debezium that this connector does not have, with the value that they have there if they are not set. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['converters', ''],
  ['database.initial.statements', ''],
  ['database.sslfactory', ''],
  ['database.sslpassword', ''],
  ['event.processing.failure.handling.mode', 'fail'],
  ['guardrail.collections.max', '0'],
  ['include.schema.comments', 'false'],
  ['lsn.flush.mode', ''],
  ['openlineage.integration.enabled', 'false'],
  ['post.processors', ''],
  ['slot.stream.params', ''],
  ['snapshot.delay.ms', '0'],
  ['snapshot.locking.mode.custom.name', ''],
  ['snapshot.mode.configuration.based.snapshot.data', 'false'],
  ['snapshot.mode.configuration.based.snapshot.on.data.error', 'false'],
  ['snapshot.mode.configuration.based.snapshot.on.schema.error', 'false'],
  ['snapshot.mode.configuration.based.snapshot.schema', 'false'],
  ['snapshot.mode.configuration.based.start.stream', 'false'],
  ['snapshot.mode.custom.name', ''],
  ['snapshot.query.mode', 'select_all'],
  ['snapshot.query.mode.custom.name', ''],
  ['streaming.delay.ms', '0'],
]);

/** Options that would change the records or the behaviour and have no effect here: each is an error, none is ignored. */
export function unsupportedProblems(config: ConnectorConfig): readonly OptionResult[] {
  return Object.entries(config).flatMap(([name, value]): OptionResult[] => {
    const byDefault = UNSUPPORTED.get(name);
    if (byDefault === undefined || value === byDefault || value === '') return [];
    const message = `The '${name}' value is invalid: this option of Debezium is not supported`;
    return [{ name, value, recommendedValues: [], errors: [message], visible: true }];
  });
}
