import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the Kafka in `KAFKA_HOME`, by the name of its jar; `undefined` where tests run on the newest, or on a cluster that they do not know. */
function versionAtHome(): string | undefined {
  const { KAFKA_HOME = '' } = process.env;
  if (KAFKA_HOME === '') return undefined;
  const names = readdirSync(join(KAFKA_HOME, 'libs'));
  return names
    .map((name) => /^kafka_2\.\d+-(\d[\d.]*\d)\.jar$/.exec(name)?.[1])
    .find((version) => version !== undefined);
}

/**
 * Whether the brokers of the tests are of this release or a later one. Where they are not, prints what a test lacks, as
 * `.ci/matrix` reads it.
 */
export function hasKafka(release: `${number}`, feature: string): boolean {
  const version = versionAtHome();
  if (version === undefined) return true;
  const [wanted, own] = [release, version].map((text) => text.split('.').map(Number));
  const [major = 0, minor = 0] = own ?? [];
  const [leastMajor = 0, leastMinor = 0] = wanted ?? [];
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return true;
  process.stdout.write(`    (skipped: ${feature} is of Kafka ${release})\n`);
  return false;
}
