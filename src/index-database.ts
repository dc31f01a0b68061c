/** The package's export `sluice/database`, for plugins that work with the database: the executor, the formats, the SQL. */
export * from './data/fault.ts';
export * from './data/row-batch.ts';
export type * from './data/row-block.ts';
export * from './data/table-shape.ts';
export type * from './database/api.ts';
export { refuseAll } from './database/batch-faults.ts';
export { checkConnection } from './database/connection-check.ts';
export { connectionOptions, connectionSettings } from './database/connection-options.ts';
export { diagnoseDatabase, type DatabaseDemands } from './database/diagnosis.ts';
export {
  beginWithAttempts,
  connectWithAttempts,
  databaseText,
  openExecutor,
  parseConnectionUrl,
  whyAway,
  type ConnectionSettings,
  type ExecutorOptions,
} from './database/open-executor.ts';
export { openNamedExecutor } from './database/session-name.ts';
export { WaitCause } from './database/wait-cause.ts';
export { ROLLBACK_RETRIES, retryRolledBack } from './database/retry-rolled-back.ts';
export {
  existsNow,
  isAway,
  isCancelled,
  isDatabaseMissing,
  isDatabaseRefused,
  isDenied,
  isLoginRefused,
  isOfOneTable,
  isRollback,
  isTableChanged,
  isUnavailable,
  isUnreachable,
  isUnsupported,
} from './database/sqlstate.ts';
export { readCreationPlace, readTableRights, type TableRight, type TableRights } from './database/table-rights.ts';
export { columnFor } from './database/write-plan.ts';
export { DatabaseError } from './errors.ts';
export { isText } from './formats/cell-bytes.ts';
export { partsOf } from './formats/format.ts';
export { fitNameTag, fitToTable, takesPrimaryTag } from './formats/fit-table.ts';
export type * from './formats/format.ts';
export { isDocumentedType } from './formats/json-db/json-db-types.ts';
export type { StringEscapes } from './formats/line-lp/line-scan.ts';
export { NANOSECOND_RULES, NanosecondSpread, type NanosecondRule } from './formats/nanoseconds.ts';
export { PRIMARY_TAG } from './formats/primary-tag.ts';
export {
  decodedChangeFormats,
  decodedFormats,
  decodedPointFormats,
  encodedFormats,
  type DecodedFormatName,
  type EncodedFormatName,
} from './formats/registry.ts';
export type { KeyMode } from './formats/struct/struct-layout.ts';
export { tableFormatProblem, TableNames } from './formats/struct/struct-table-names.ts';
export { StructDecoder, type StructPolicy } from './formats/struct/struct.ts';
export { readTimestamp } from './formats/timestamp-read.ts';
export type { ValueType } from './formats/tsd/metric-shape.ts';
export { MetricTargets } from './formats/tsd/metric-targets.ts';
export { countCollapsed } from './observe/row-counts.ts';
export { changeProblem, isDoneAlready, type ChangeKind } from './sql/change-statement.ts';
export { classify, type Classification, type StatementKind } from './sql/classify.ts';
export {
  ownStatement,
  ownStatementOn,
  qualifiedStatement,
  qualifiedStatementOn,
  type OwnStatement,
} from './sql/own-statement.ts';
export { quoteIdentifier, quoteLiteral, quoteTable } from './sql/quote.ts';
export { splitInSteps, splitStatements, type Statement } from './sql/split.ts';
export { translate } from './sql/translate/translate.ts';
export { translateRefusedWith, translateWith, type TableLookup } from './sql/translate/translate-with.ts';
export type * from './sql/translate/translation.ts';
