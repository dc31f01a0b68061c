import { pino, type Logger as PinoLogger } from 'pino';
import type { ConnectorLog } from './connector-log.ts';
import type { SecretMask } from './secret-mask.ts';

/** The logger of all packages and plugins; children have `connector` and `task` as fields. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: string;
  /** `json`: one object per line, for log collectors; `text`: for people. */
  readonly format: 'json' | 'text';
  /** A file to append to; absent: standard output. */
  readonly file?: string | undefined;
  /** Values that log lines must not contain. */
  readonly secrets?: SecretMask | undefined;
  /** Keeps the last lines of connectors. */
  readonly tail?: ConnectorLog | undefined;
}

/** Fields of `err`. pino would append the messages of all causes to the message, although the stack has them too. */
export const serializers = {
  err: (error: unknown): unknown =>
    error instanceof Error ? { ...pino.stdSerializers.err(error), message: error.message } : error,
};

/** Creates the logger of the worker. Values of PASSWORD options are printed as `[hidden]` (config/password.ts). */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const { secrets, tail } = options;
  const streamWrite = (line: string): string => {
    const shown = secrets?.hide(line) ?? line;
    tail?.note(shown);
    return shown;
  };
  const base = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers,
    hooks: { streamWrite },
  };
  if (options.format === 'json') {
    return pino(
      { ...base, formatters: { level: (label) => ({ level: label }) } },
      pino.destination({
        ...(options.file === undefined ? { dest: 1 } : { dest: options.file, mkdir: true }),
        sync: true,
      }),
    );
  }
  const { default: pretty } = await import('pino-pretty');
  return pino(
    base,
    pretty({
      colorize: options.file === undefined && process.stdout.isTTY,
      translateTime: 'UTC:HH:MM:ss.l',
      ignore: 'connector,task,logger,thread',
      messageFormat: (log, key) => `${where(log)}${String(log[key])}`,
      destination: options.file ?? 1,
      mkdir: true,
      sync: true,
    }),
  );
}

/** `[sink-0] ` in front of a line about a task, `[sink] ` about a connector. */
function where({ connector, task }: Record<string, unknown>): string {
  if (typeof connector !== 'string') return '';
  return typeof task === 'number' ? `[${connector}-${String(task)}] ` : `[${connector}] `;
}

/** A logger that discards all lines. */
export const silentLogger: Logger = pino({ level: 'silent' });
