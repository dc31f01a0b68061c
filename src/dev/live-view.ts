import { absenceText, cut, liveLines, redrawing } from './live-lines.ts';
import type { Absence } from './gauge.ts';
import type { Stack } from './stack.ts';
import type { Moved } from './stack-counts.ts';

const PLAIN_EVERY_MS = 10_000;

/** Where lines are written to: a terminal, a pipe or a file. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  /** Of a terminal. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

export interface LiveViewOptions {
  /** Nothing but notes, and those to `errors`: the output is for one line of JSON. */
  readonly quiet: boolean;
  readonly output?: Output;
  readonly errors?: Output;
  readonly environment?: NodeJS.ProcessEnv;
}

/** What `sluice dev` shows: a header once, then counts in place on a terminal, a line now and then elsewhere. */
export class LiveView {
  readonly #quiet: boolean;
  readonly #output: Output;
  readonly #errors: Output;
  readonly #redraws: boolean;
  #drawn: readonly string[] = [];
  #away: readonly Absence[] = [];
  #lastPlainMs = 0;
  #lastPassingMs = 0;

  constructor(options: LiveViewOptions) {
    const { quiet, output = process.stdout, errors = process.stderr, environment = process.env } = options;
    this.#quiet = quiet;
    this.#output = output;
    this.#errors = errors;
    this.#redraws = !quiet && redraws(output, environment);
  }

  /** A line; one that is `passing` gives its place to the next, or is mostly left out where lines stay. */
  note(message: string, passing = false): void {
    this.#drawn = [];
    if (this.#redraws) {
      const { columns } = sizeOf(this.#output);
      this.#output.write(passing ? `\r${cut(message, columns - 1)}\x1b[K` : `\r\x1b[K${message}\n`);
      return;
    }
    if (passing) {
      if (Date.now() - this.#lastPassingMs < PLAIN_EVERY_MS) return;
      this.#lastPassingMs = Date.now();
    }
    this.#line(message);
  }

  header({ worker, bootstrapServers, psqlUrl, authorityFile }: Header, logFile: string): void {
    if (this.#quiet) return;
    this.#output.write(
      [
        '',
        `  Console       ${worker.url}/ui`,
        `  Connect REST  ${worker.url}`,
        `  Database API  ${worker.services['database-http'] ?? ''}`,
        `  Kafka         ${bootstrapServers}`,
        `  PostgreSQL    ${psqlUrl}`,
        `  Log           ${logFile}`,
        '',
        `  Look:  curl -s '${worker.url}/connectors?expand=status'`,
        `         curl -s --cacert '${authorityFile}' -u sluice:sluice -d 'select * from host_load order by 1 desc limit 5' ${worker.services['database-http'] ?? ''}/restapi/query`,
        `         psql '${psqlUrl}' -c 'select * from host_load order by k_timestamp desc limit 5'`,
        '',
        '',
      ].join('\n'),
    );
  }

  counts(moved: Moved): void {
    if (!this.#redraws) this.#tellAbsences(moved.away);
    if (this.#quiet) return;
    const lines = liveLines(moved);
    if (this.#redraws) {
      const { text, drawn } = redrawing(this.#drawn, lines, sizeOf(this.#output));
      this.#output.write(text);
      this.#drawn = drawn;
    } else if (Date.now() - this.#lastPlainMs >= PLAIN_EVERY_MS) {
      this.#lastPlainMs = Date.now();
      this.#line(lines.map((line) => line.trim().replace(/\s+/g, ' ')).join('; '));
    }
  }

  /** At once, where a line stands for the last ten seconds. */
  #tellAbsences(away: readonly Absence[]): void {
    const isIn = (absences: readonly Absence[], wanted: Absence) =>
      absences.some(({ service }) => service === wanted.service);
    for (const absence of away) if (!isIn(this.#away, absence)) this.#line(absenceText(absence));
    for (const absence of this.#away) if (!isIn(away, absence)) this.#line(`${absence.service} is back`);
    this.#away = away;
  }

  #line(text: string): void {
    (this.#quiet ? this.#errors : this.#output).write(`${text}\n`);
  }
}

type Header = Pick<Stack, 'bootstrapServers' | 'psqlUrl' | 'authorityFile'> & {
  readonly worker: Pick<Stack['worker'], 'url' | 'services'>;
};

function sizeOf({ columns = 80, rows = 24 }: Output): { columns: number; rows: number } {
  return { columns, rows };
}

/** A terminal that takes commands, and whose user has not asked for plain text. */
function redraws({ isTTY = false, columns = 0 }: Output, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR = '', TERM = '' } = environment;
  return isTTY && columns > 0 && NO_COLOR === '' && TERM !== 'dumb';
}
