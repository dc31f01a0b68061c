/**
 * The package's export `sluice/database`, for plugins that work with the database: the executor, the formats, the SQL.
 */
export * from '../../src/data/fault.ts';
export * from '../../src/data/row-batch.ts';
export type * from '../../src/data/row-block.ts';
export * from '../../src/data/table-shape.ts';
export type * from './executor/api.ts';
export { refuseAll } from './executor/batch-faults.ts';
export { checkConnection } from './executor/connection-check.ts';
export { connectionOptions, connectionSettings } from './executor/connection-options.ts';
export { databasePlace } from './executor/database-place.ts';
export { diagnoseDatabase, type DatabaseDemands } from './executor/diagnosis.ts';
export {
  beginWithAttempts,
  connectWithAttempts,
  databaseText,
  openExecutor,
  parseConnectionUrl,
  unavailableReason,
  type ConnectionSettings,
  type ExecutorOptions,
} from './executor/open-executor.ts';
export type { ServerProbe } from './executor/probe-result.ts';
export { exactlyOnceProblem, notificationProblem, probeHints, upsertProblem } from './executor/server-probe.ts';
export { openNamedExecutor, withSessionName } from './executor/session-name.ts';
export { WaitCause } from './executor/wait-cause.ts';
export { ROLLBACK_RETRIES, retryRolledBack } from './executor/retry-rolled-back.ts';
export {
  alreadyExists,
  isUnreachable,
  isCancelled,
  isDatabaseMissing,
  isDatabaseRefused,
  isDenied,
  isLoginRefused,
  isLimitedToTable,
  isRollback,
  isTableChanged,
  isUnavailable,
  isUnreachableOrFull,
  isUnsupported,
} from './executor/sqlstate.ts';
export { readCreationPlace, readTableRights, type TableRight, type TableRights } from './executor/table-rights.ts';
export { ReplicationConnection, type ReceivedMessages, type ReplicationReceiver } from './executor/replication.ts';
export { roleOf } from './executor/catalogue-query.ts';
export { columnFor } from './executor/write-plan.ts';
export { DatabaseError } from '../../src/errors.ts';
export { isText } from './formats/cell-bytes.ts';
export { partsOf } from './formats/format.ts';
export { fitNameTag, fitToTable, takesPrimaryTag } from './formats/fit-table.ts';
export type * from './formats/format.ts';
export { cdcDbStatement, createCdcDbEncoder, type CdcDbPlace } from './formats/json-db/cdc-db-encoder.ts';
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
export { nameUuid } from './formats/struct/name-uuid.ts';
export type { KeyMode } from './formats/struct/struct-layout.ts';
export { tableFormatProblem, TableNames } from './formats/struct/struct-table-names.ts';
export { StructDecoder, type StructPolicy } from './formats/struct/struct.ts';
export { readTimestamp } from './formats/timestamp-read.ts';
export type { ValueType } from './formats/tsd/metric-shape.ts';
export { MetricTargets } from './formats/tsd/metric-targets.ts';
export { countCollapsed } from '../../src/observe/row-counts.ts';
export { changeProblem, isAlreadyApplied, type ChangeKind } from './sql/change-statement.ts';
export { typeFamily } from './sql/column-type.ts';
export { classify, type Classification, type StatementKind } from './sql/classify.ts';
export {
  ownStatement,
  ownStatementOn,
  qualifiedStatement,
  qualifiedStatementOn,
  type OwnStatement,
} from './sql/own-statement.ts';
export { quoteIdentifier, quoteLiteral, quoteTable } from './sql/quote.ts';
export { deleteStatement, updateStatement, type ColumnValue, type RowCondition } from './sql/row-change.ts';
export { splitInSteps, splitStatements, type Statement } from './sql/split.ts';
export { translate } from './sql/translate/translate.ts';
export { translateRefusedWith, translateWith, type TableLookup } from './sql/translate/translate-with.ts';
export type * from './sql/translate/translation.ts';
