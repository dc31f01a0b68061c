import type { Stack } from './stack.ts';
import type { Moved } from './stack-counts.ts';

const PLAIN_EVERY_MS = 10_000;

/** What `sluice dev` shows: a header once, then counts in place on a terminal, a line now and then elsewhere. */
export class LiveView {
  readonly #quiet: boolean;
  readonly #terminal = process.stdout.isTTY;
  #drawnLines = 0;
  #lastPlainMs = 0;

  constructor(options: { readonly quiet: boolean }) {
    this.#quiet = options.quiet;
  }

  note(message: string): void {
    this.#drawnLines = 0;
    (this.#quiet ? process.stderr : process.stdout).write(`${message}\n`);
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
    const lines = [
      `  Rows into PostgreSQL   ${moved.sinkRows.toLocaleString('en')}`,
      `  Records into Kafka     ${moved.sourceRecords.toLocaleString('en')}`,
      ...moved.connectors.map(({ name, state, tasks, waitsFor }) => {
        const waiting = waitsFor.length === 0 ? '' : `  waits for topic ${waitsFor.join(', ')}`;
        return `  ${name.padEnd(22)} ${state}  tasks: ${tasks.join(', ')}${waiting}`;
      }),
    ];
    if (this.#terminal) {
      const up = this.#drawnLines > 0 ? `\x1b[${String(this.#drawnLines)}A` : '';
      process.stdout.write(`${up}${lines.map((line) => `\x1b[2K${line}\n`).join('')}`);
      this.#drawnLines = lines.length;
    } else if (Date.now() - this.#lastPlainMs >= PLAIN_EVERY_MS) {
      this.#lastPlainMs = Date.now();
      process.stdout.write(`${lines.map((line) => line.trim().replace(/\s+/g, ' ')).join('; ')}\n`);
    }
  }
}
