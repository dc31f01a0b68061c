import { parseArgs } from 'node:util';
import { BenchServices } from './bench-services.ts';
import { httpLines } from './http-lines.ts';
import { httpQuery } from './http-query.ts';
import { sinkLines } from './sink-lines.ts';
import { formatTable, machine, type Workload } from './figures.ts';

/** The workloads of the bench that exist so far, by name. */
const WORKLOADS: Readonly<Record<string, Workload>> = {
  'sink-lines': sinkLines,
  'http-lines': httpLines,
  'http-query': httpQuery,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rows: { type: 'string', default: '500000' },
    runs: { type: 'string', default: '3' },
  },
});

const wanted = positionals.length === 0 ? Object.keys(WORKLOADS) : positionals;
const unknown = wanted.filter((name) => !(name in WORKLOADS));
if (unknown.length > 0) {
  process.stderr.write(`Unknown workload ${unknown.join(', ')}; there are ${Object.keys(WORKLOADS).join(', ')}\n`);
  process.exit(1);
}

const services = await BenchServices.open();
try {
  const context = { services, rows: Number(values.rows), runs: Number(values.runs) };
  for (const name of wanted) {
    const figures = await WORKLOADS[name]?.(context);
    if (figures === undefined) continue;
    const line = { workload: name, ...figures };
    process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : formatTable(line));
  }
  if (!values.json) process.stdout.write(`${await machine(services)}\n`);
} finally {
  await services.close();
}
process.exit();
