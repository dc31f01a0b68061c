/** The plugin API: everything a plugin may import. */
export * from './connect/api.ts';
export { plainJson } from './connect/plain-json.ts';
export * from './config/option.ts';
export { parseOptions } from './config/parse.ts';
export { Password } from './config/password.ts';
export * from './config/validators.ts';
export type * from './config/providers/config-provider.ts';
export * from './data/fault.ts';
export type * from './data/message-block.ts';
export * from './data/record.ts';
export * from './data/row-batch.ts';
export * from './data/table-shape.ts';
export { javaText } from './data/java-text.ts';
export { javaRegexMatcher } from './data/java-regex.ts';
export { LogicalName, Schema } from './data/schema.ts';
export { Decimal, Struct, TypedNumber, type ConnectValue } from './data/value.ts';
export type * from './database/api.ts';
export { refuseAll } from './database/batch-faults.ts';
export { checkConnection } from './database/connection-check.ts';
export { connectionOptions, connectionSettings } from './database/connection-options.ts';
export {
  connectWithAttempts,
  openExecutor,
  parseConnectionUrl,
  type ConnectionSettings,
} from './database/open-executor.ts';
export { ROLLBACK_RETRIES, retryRolledBack } from './database/retry-rolled-back.ts';
export type * from './formats/format.ts';
export { isDocumentedType } from './formats/json-db/json-db-types.ts';
export { partsOf } from './formats/decoded-parts.ts';
export type { ValueType } from './formats/tsd/metric-shape.ts';
export { MetricTargets } from './formats/tsd/metric-targets.ts';
export {
  decodedChangeFormats,
  decodedFormats,
  decodedPointFormats,
  encodedFormats,
  type DecodedFormatName,
  type EncodedFormatName,
} from './formats/registry.ts';
export { StructDecoder, type StructPolicy } from './formats/struct/struct.ts';
export type { KeyMode } from './formats/struct/struct-layout.ts';
export { tableFormatProblem } from './formats/struct/struct-table-names.ts';
export { readTimestamp } from './formats/timestamp-read.ts';
export * from './errors.ts';
export { silentLogger, type Logger } from './observe/logger.ts';
export { quoteIdentifier, quoteLiteral, quoteTable } from './sql/quote.ts';
export { changeProblem, isDoneAlready, type ChangeKind } from './sql/change-statement.ts';
export { classify, type Classification, type StatementKind } from './sql/classify.ts';
export { splitStatements, type Statement } from './sql/split.ts';
export { tablesNeeded, translate, translateRefused } from './sql/translate/translate.ts';
export { translateRefusedWith, translateWith, type TableLookup } from './sql/translate/translate-with.ts';
export type * from './sql/translate/translation.ts';
export { CONNECT_VERSION, SLUICE_VERSION } from './version.ts';
