/**
 * The plugin API, which the package exports as `sluice`: the types and functions for connectors, converters, transforms,
 * predicates and config providers.
 */
export * from './connect/api.ts';
export { backoffMs, NO_JITTER } from './async/backoff.ts';
export { within } from './async/within.ts';
export {
  PLAN,
  placeOf,
  type PlannableTransformation,
  type PlannedPart,
  type StructPlan,
} from './connect/pipeline/struct-plan.ts';
export { Turn } from './connect/pipeline/turn.ts';
export { recordsOfBlock } from './connect/source/source-block.ts';
export { countService, watchService, type ServiceFigure } from './observe/service-figures.ts';
export { plainJson } from './converters/plain-json.ts';
export { addressGroup, plainAddress } from './config/client-address.ts';
export { listenFailure } from './config/listen-failure.ts';
export { didYouMean } from './config/nearest.ts';
export * from './config/option.ts';
export { parseOptions } from './config/parse.ts';
export { Password } from './config/password.ts';
export * from './config/validators.ts';
export type * from './config/providers/config-provider.ts';
export { BoundedMap } from './data/bounded-map.ts';
export type { DatabasePlace } from './data/database-place.ts';
export { fail, ok, warn, type Finding } from './data/finding.ts';
export type * from './data/message-block.ts';
export { MAX_PACKED_VALUE, PackedHeaders, PackedRecords, RecordPacker } from './data/packed-records.ts';
export { ByteWriter } from './data/byte-writer.ts';
export * from './data/record.ts';
export { decimalBytes, parseDecimal } from './data/logical-values.ts';
export { javaClassOf } from './data/java-class.ts';
export { withoutTrailing } from './data/text-ends.ts';
export { JSON_TEXT, LogicalName, Schema } from './data/schema.ts';
export { Decimal, Struct, TypedNumber, type ConnectValue } from './data/value.ts';
export {
  ConfigError,
  ConnectError,
  DataError,
  RetriableError,
  SluiceError,
  toError,
  UnavailableError,
} from './errors.ts';
export { bodyChunks, BodyTooLargeError, type BodyLimits } from './http/body-chunks.ts';
export { allowOrigin } from './http/cross-origin.ts';
export { PortListener, type PortTimeouts } from './http/port-listener.ts';
export { javaStringHash } from './java/java-hash-order.ts';
export { JavaPattern, javaRegexMatcher } from './java/java-regex.ts';
export { javaText } from './java/java-text.ts';
export * from './json/open-api.ts';
export { validatorOf } from './json/validator.ts';
export { asActivity } from './observe/event-loop-watch.ts';
export { silentLogger, type Logger } from './observe/logger.ts';
export { CONNECT_VERSION, SLUICE_VERSION } from './version.ts';
