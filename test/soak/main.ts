import { parseArgs } from 'node:util';
import { alerts } from './alerts.ts';
import { brokers } from './brokers.ts';
import { clusterRequests } from './cluster-requests.ts';
import { clusterSuspended } from './cluster-suspended.ts';
import { endServices } from '../support/services.ts';
import { consumerDifferential } from './consumer-differential.ts';
import { databaseGone } from './database-gone.ts';
import { deadLetters } from './dead-letters.ts';
import { drain } from './drain.ts';
import { freezes } from './freezes.ts';
import { hostileClients } from './hostile-clients.ts';
import { httpClients } from './http-clients.ts';
import { leaderDifferential } from './leader-differential.ts';
import { logSource } from './log-source.ts';
import { networkCut, networkForgets } from './network-cut.ts';
import { openapi } from './openapi.ts';
import { parsers } from './parsers.ts';
import { producerDifferential } from './producer-differential.ts';
import type { Repeat } from './repeat.ts';
import { silentDatabaseRepeat } from './silent-database.ts';
import { sinkKills } from './sink-kills.ts';
import { sinkModel } from './sink-model.ts';
import { sourceKills } from './source-kills.ts';
import { sourceModel } from './source-model.ts';
import { sqlSplitter } from './sql-splitter.ts';

/** Long versions of the tests, by name. Each is in its own file. */
const REPEATS: Readonly<Record<string, Repeat>> = {
  parsers,
  freezes,
  'sql-splitter': sqlSplitter,
  'silent-database': silentDatabaseRepeat,
  'sink-kills': sinkKills,
  'source-kills': sourceKills,
  'log-source': logSource,
  'database-gone': databaseGone,
  'network-cut': networkCut,
  'network-forgets': networkForgets,
  'cluster-requests': clusterRequests,
  'cluster-suspended': clusterSuspended,
  'dead-letters': deadLetters,
  drain,
  brokers,
  alerts,
  openapi,
  'http-clients': httpClients,
  'hostile-clients': hostileClients,
  'consumer-differential': consumerDifferential,
  'producer-differential': producerDifferential,
  'leader-differential': leaderDifferential,
  'sink-model': sinkModel,
  'source-model': sourceModel,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string' },
  },
});

const wanted = positionals.length === 0 ? Object.keys(REPEATS) : positionals;
const unknown = wanted.filter((name) => !(name in REPEATS));
if (unknown.length > 0) {
  const known = Object.entries(REPEATS).map(
    ([name, repeat]) => `${name} (${String(repeat.defaultCount)} ${repeat.unit})`,
  );
  process.stderr.write(`Unknown repeat ${unknown.join(', ')}; there are ${known.join(', ')}\n`);
  process.exit(1);
}

let failed = 0;
for (const name of wanted) {
  const print = (line: string): void => void process.stdout.write(`${name}: ${line}\n`);
  try {
    const isKept = await REPEATS[name]?.run({
      count: numberOf(values.count),
      seed: numberOf(values.seed),
      minutes: numberOf(values.minutes),
      only: values.only?.split(','),
      print,
    });
    if (isKept !== true) failed += 1;
  } catch (error) {
    failed += 1;
    print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
await endServices();
process.stdout.write(`${String(wanted.length - failed)} passed, ${String(failed)} failed\n`);
process.exit(failed === 0 ? 0 : 1);

function numberOf(text: string | undefined): number | undefined {
  const number = text === undefined ? undefined : Number(text);
  if (number !== undefined && !Number.isSafeInteger(number)) throw new Error(`${String(text)} is no whole number`);
  return number;
}
