import { pino } from 'pino';
import { serializers, type Logger } from './logger.ts';

interface Line {
  readonly level: number;
  readonly msg?: string;
}

/**
 * Writes log lines of another thread, as pino prints them, to the log of this thread. The other thread has applied the levels.
 * @returns a function that writes a line
 */
export function logRelay(logger: Logger): (line: string) => void {
  const relay = logger.child({});
  return (text) => {
    const { level, msg, time, ...fields } = JSON.parse(text) as Line & Record<string, unknown>;
    void time;
    const name = pino.levels.labels[level] ?? 'info';
    relay.level = 'trace';
    relay[name as 'info'](fields, msg ?? '');
  };
}

/** The logger of a thread, whose lines go to `write` as JSON. */
export function relayedLogger(write: (line: string) => void): Logger {
  return pino({ level: 'info', base: null, serializers }, { write });
}
