/** The plugin API: everything a plugin may import. */
export * from './connect/api.ts';
export * from './config/option.ts';
export { Password } from './config/password.ts';
export * from './data/fault.ts';
export * from './data/record.ts';
export * from './data/row-batch.ts';
export * from './data/table-shape.ts';
export { LogicalName, Schema } from './data/schema.ts';
export { Decimal, Struct, TypedNumber, type ConnectValue } from './data/value.ts';
export type * from './database/api.ts';
export type * from './formats/format.ts';
export * from './errors.ts';
export type { Logger } from './observe/logger.ts';
