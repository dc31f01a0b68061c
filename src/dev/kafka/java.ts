import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Java {
  readonly program: string;
  /** The output of `java -version`, which identifies the build. */
  readonly version: string;
}

/**
 * Finds the first Java of at least the given version among `$JAVA_HOME/bin/java`, `java` on the path, and the homes in variables such as
 * `JAVA_21_HOME` and `JAVA_HOME_21_X64`.
 */
export async function findJava(environment: NodeJS.ProcessEnv, lowestMajor = 17): Promise<Java | undefined> {
  const numbered = Object.keys(environment).filter((name) => /^JAVA_(\d+_HOME|HOME_\d+(_\w+)?)$/.test(name));
  const homes = ['JAVA_HOME', ...numbered].map((name) => environment[name] ?? '');
  const [first, ...others] = homes.map((home) => (home === '' ? '' : join(home, 'bin', 'java')));
  for (const program of [first ?? '', 'java', ...others].filter((each) => each !== '')) {
    const version = await promisify(execFile)(program, ['-version'], { env: environment }).then(
      ({ stdout, stderr }) => stderr + stdout,
      () => '',
    );
    const major = /version "(?:1\.)?(\d+)/.exec(version)?.[1];
    if (major !== undefined && Number(major) >= lowestMajor) return { program, version };
  }
  return undefined;
}

/** The jars of a folder in a fixed order, because class archives depend on the order. */
export function classPath(jarFolder: string): string {
  return readdirSync(jarFolder)
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(jarFolder, name))
    .join(':');
}

/**
 * Arguments of the JVM. They select the serial garbage collector, because concurrent collectors need more than 2 cores
 * and half a gigabyte to be worthwhile.
 */
export function jvmArguments(jars: string, more: readonly string[]): readonly string[] {
  const logging = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dorg.slf4j.simpleLogger.showDateTime=true'];
  return ['-Xmx512m', '-XX:+UseSerialGC', '-Xshare:auto', ...more, ...logging, '-cp', jars];
}
