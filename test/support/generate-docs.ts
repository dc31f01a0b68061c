import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { sinkOptions } from '../../plugins/db-sink/options.ts';
import { sourceOptions } from '../../plugins/db-source/options.ts';
import { logSourceOptions } from '../../plugins/log-source/options.ts';
import { avroConverterOptions } from '../../src/converters/avro/avro-converter.ts';
import { jsonSchemaConverterOptions } from '../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterOptions } from '../../src/converters/protobuf/protobuf-converter.ts';
import { registryOptions } from '../../src/converters/schema-registry/registry-options.ts';
import { describeOptions } from './option-table.ts';
import { packagePicture } from './package-picture.ts';
import { distributedOptions } from '../../src/config/distributed-options.ts';
import { healthOptions } from '../../src/config/health-options.ts';
import type { OptionDeclarations } from '../../src/config/option.ts';
import { rateLimitOptions } from '../../src/config/rate-limit-options.ts';
import { sourceErrorOptions } from '../../src/config/source-error-options.ts';
import { restartOptions } from '../../src/config/restart-options.ts';
import { taskThreadOptions } from '../../src/config/task-thread-options.ts';
import {
  commonWorkerOptions,
  ownWorkerOptions,
  restOptions,
  standaloneOptions,
} from '../../src/config/worker-options.ts';

/** The option tables of the documents, each between `<!-- options: NAME -->` and `<!-- end -->`. */
const TABLES: Readonly<Record<string, OptionDeclarations>> = {
  sink: sinkOptions,
  source: sourceOptions,
  logsource: logSourceOptions,
  worker: { ...commonWorkerOptions, ...restOptions },
  distributed: distributedOptions,
  standalone: standaloneOptions,
  own: without(restartOptions, ownWorkerOptions),
  threads: taskThreadOptions,
  health: healthOptions,
  ratelimit: rateLimitOptions,
  sourceerrors: sourceErrorOptions,
  restarts: restartOptions,
  registry: without({ 'converter.type': true }, registryOptions),
  avro: without(registryOptions, avroConverterOptions),
  protobuf: without(registryOptions, protobufConverterOptions),
  jsonschema: without(registryOptions, jsonSchemaConverterOptions),
  http: Object.fromEntries(Object.entries(serviceOptions).map(([name, option]) => [`database.http.${name}`, option])),
};

function without(others: object, options: OptionDeclarations): OptionDeclarations {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(others, name)));
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the pages for users, at the root of the repository and below `docs`, as paths from the root. */
export async function documentPaths(): Promise<readonly string[]> {
  const below = await readdir(`${root}docs`, { recursive: true });
  const pages = below.filter((path) => path.endsWith('.md')).map((path) => `docs/${path.replaceAll('\\', '/')}`);
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...pages.sort()];
}

export async function readDocument(path: string): Promise<string> {
  return readFile(root + path, 'utf8');
}

/**
 * Returns the page with every option table, and with the picture of the packages, as generated from the code. Throws
 * for a marker without a table.
 */
export function regenerated(page: string): string {
  const withPicture = page.replace(
    /(<!-- packages -->\n```text\n)[\s\S]*?(```\n<!-- end -->)/,
    (_whole, begin: string, end: string) => `${begin}${packagePicture()}\n${end}`,
  );
  return withPicture.replace(/<!-- options: (\w+) -->\n[\s\S]*?<!-- end -->/g, (_whole, name: string) => {
    const declarations = TABLES[name];
    if (declarations === undefined) throw new Error(`a page asks for options ${name}, which do not exist`);
    return `<!-- options: ${name} -->\n${describeOptions(declarations).trim()}\n<!-- end -->`;
  });
}

/** `npm run docs`. */
export async function generateDocs(): Promise<void> {
  for (const path of await documentPaths()) {
    const page = await readDocument(path);
    const generated = regenerated(page);
    if (generated !== page) await writeFile(root + path, generated);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generateDocs();
