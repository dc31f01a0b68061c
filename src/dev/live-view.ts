import { cut, liveLines, redrawing } from './live-lines.ts';
import type { Stack } from './stack.ts';
import type { Moved } from './stack-counts.ts';

const PLAIN_EVERY_MS = 10_000;

/** What `sluice dev` shows: a header once, then counts in place on a terminal, a line now and then elsewhere. */
export class LiveView {
  readonly #quiet: boolean;
  readonly #redraws = redraws();
  #drawn: readonly string[] = [];
  #lastPlainMs = 0;

  constructor(options: { readonly quiet: boolean }) {
    this.#quiet = options.quiet;
  }

  /** A line; one that is `passing` gives its place to the next, or is left out where lines stay. */
  note(message: string, passing = false): void {
    this.#drawn = [];
    const stream = this.#quiet ? process.stderr : process.stdout;
    if (!this.#redraws || this.#quiet) {
      if (!passing || this.#isTimeForPlain()) stream.write(`${message}\n`);
      return;
    }
    stream.write(passing ? `\r${cut(message, process.stdout.columns - 1)}\x1b[K` : `\r\x1b[K${message}\n`);
  }

  header({ worker, bootstrapServers, psqlUrl, authorityFile }: Stack, logFile: string): void {
    if (this.#quiet) return;
    process.stdout.write(
      [
        '',
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
    if (this.#quiet) return;
    const lines = liveLines(moved);
    if (this.#redraws) {
      const { columns, rows } = process.stdout;
      const { text, drawn } = redrawing(this.#drawn, lines, { columns, rows });
      process.stdout.write(text);
      this.#drawn = drawn;
    } else if (this.#isTimeForPlain()) {
      process.stdout.write(`${lines.map((line) => line.trim().replace(/\s+/g, ' ')).join('; ')}\n`);
    }
  }

  #isTimeForPlain(): boolean {
    if (Date.now() - this.#lastPlainMs < PLAIN_EVERY_MS) return false;
    this.#lastPlainMs = Date.now();
    return true;
  }
}

/** A terminal that takes commands, and whose user has not asked for plain text. */
function redraws(): boolean {
  const { NO_COLOR = '', TERM = '' } = process.env;
  return process.stdout.isTTY && process.stdout.columns > 0 && NO_COLOR === '' && TERM !== 'dumb';
}
