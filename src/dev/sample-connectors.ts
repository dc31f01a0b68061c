import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

export interface SampleConnector {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
}

/** The database URL in the sample files. It has the default port, so that the files work with `curl -d @file`. */
const SAMPLE_DATABASE_URL = 'jdbc:db://127.0.0.1:5432/sluice';

/** The connectors of `src/dev/samples` with the database of this run. */
export async function sampleConnectors(databaseUrl: string): Promise<SampleConnector[]> {
  const folder = join(packageRoot(), 'src', 'dev', 'samples');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      return JSON.parse(text.replaceAll(SAMPLE_DATABASE_URL, databaseUrl)) as SampleConnector;
    }),
  );
}
