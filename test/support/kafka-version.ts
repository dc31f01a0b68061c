import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the version of the Kafka in `KAFKA_HOME`, from the name of its jar. Returns `undefined` if tests run on the
 * newest version, or on a cluster of unknown version.
 */
function versionAtHome(): string | undefined {
  const { KAFKA_HOME = '' } = process.env;
  if (KAFKA_HOME === '') return undefined;
  const names = readdirSync(join(KAFKA_HOME, 'libs'));
  return names
    .map((name) => /^kafka_2\.\d+-(\d[\d.]*\d)\.jar$/.exec(name)?.[1])
    .find((version) => version !== undefined);
}

/**
 * Returns true if the brokers of the tests are of this release or a later one. Otherwise prints the feature that a test
 * lacks, in the form that `.ci/matrix` reads.
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
