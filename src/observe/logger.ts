import type { Logger as PinoLogger } from 'pino';

/** The logger that every room and plugin is handed; children carry `connector` and `task` as fields. */
export type Logger = PinoLogger;
