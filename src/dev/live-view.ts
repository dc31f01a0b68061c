import { outageText, cut, liveLines, redrawing } from './live-lines.ts';
import type { Outage } from './gauge.ts';
import type { Stack } from './stack.ts';
import type { Moved } from './stack-counts.ts';

const PLAIN_EVERY_MS = 10_000;

/** The destination of lines: a terminal, a pipe or a file. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  /** Width of a terminal, in characters. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

export interface LiveViewOptions {
  /**
   * Whether to write only notes and outages, and these to `errors`, because `output` is reserved for one line of JSON.
   */
  readonly quiet: boolean;
  readonly output?: Output;
  readonly errors?: Output;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * The display of `sluice dev`: a header, then counts, which are updated in place on a terminal and written as lines
 * elsewhere.
 */
export class LiveView {
  readonly #quiet: boolean;
  readonly #output: Output;
  readonly #errors: Output;
  readonly #redraws: boolean;
  #drawn: readonly string[] = [];
  #outages: readonly Outage[] = [];
  #lastPlainMs = 0;
  #lastPassingMs = 0;

  constructor(options: LiveViewOptions) {
    const { quiet, output = process.stdout, errors = process.stderr, environment = process.env } = options;
    this.#quiet = quiet;
    this.#output = output;
    this.#errors = errors;
    this.#redraws = !quiet && redraws(output, environment);
  }

  /**
   * Writes a line. A `passing` line is replaced by the next one; on an output that cannot be redrawn, most passing
   * lines are omitted.
   */
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
    if (!this.#redraws) this.#reportOutages(moved.away);
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

  /** Reports outages immediately, because the other lines are only written every ten seconds. */
  #reportOutages(outages: readonly Outage[]): void {
    const includes = (all: readonly Outage[], wanted: Outage) => all.some(({ service }) => service === wanted.service);
    for (const outage of outages) if (!includes(this.#outages, outage)) this.#line(outageText(outage));
    for (const outage of this.#outages) {
      if (!includes(outages, outage)) this.#line(`${outage.service} is reachable again`);
    }
    this.#outages = outages;
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

/** Whether the output is a terminal that supports control sequences, and the user has not requested plain text. */
function redraws({ isTTY = false, columns = 0 }: Output, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR = '', TERM = '' } = environment;
  return isTTY && columns > 0 && NO_COLOR === '' && TERM !== 'dumb';
}
