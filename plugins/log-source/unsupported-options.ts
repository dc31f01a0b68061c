import type { ConnectorConfig, OptionResult } from '../../src/index.ts';

/** Options of Debezium that this connector does not support, with their default values in lower case. Values are compared without case. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['converters', ''],
  ['custom.metric.tags', ''],
  ['database.initial.statements', ''],
  ['database.sslfactory', ''],
  ['database.sslpassword', ''],
  ['event.processing.failure.handling.mode', 'fail'],
  ['flush.lsn.source', 'true'],
  ['guardrail.collections.max', '0'],
  ['include.schema.comments', 'false'],
  ['incremental.snapshot.allow.schema.changes', 'false'],
  ['incremental.snapshot.watermarking.strategy', 'insert_insert'],
  ['lsn.flush.mode', ''],
  ['openlineage.integration.enabled', 'false'],
  ['post.processors', ''],
  ['read.only', 'false'],
  ['signal.enabled.channels', 'source'],
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
  ['snapshot.tables.order.by.row.count', 'disabled'],
  ['sourceinfo.struct.maker', 'io.debezium.connector.postgresql.postgressourceinfostructmaker'],
  ['streaming.delay.ms', '0'],
  ['table.ignore.builtin', 'true'],
  ['transaction.metadata.factory', 'io.debezium.pipeline.txmetadata.defaulttransactionmetadatafactory'],
  ['xmin.fetch.interval.ms', '0'],
]);

/** Reports unsupported options that would change records or behaviour. Options for speed and timeouts are ignored. */
export function unsupportedProblems(config: ConnectorConfig): readonly OptionResult[] {
  return Object.entries(config).flatMap(([name, value]): OptionResult[] => {
    const byDefault = UNSUPPORTED.get(name);
    if (byDefault === undefined || value === '' || value.toLowerCase() === byDefault) return [];
    const message = `The '${name}' value is invalid: this option of Debezium is not supported`;
    return [{ name, value, recommendedValues: [], errors: [message], visible: true }];
  });
}
