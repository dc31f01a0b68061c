import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { sinkOptions } from '../../plugins/db-sink/options.ts';
import { sourceOptions } from '../../plugins/db-source/options.ts';
import { avroConverterOptions } from '../../src/connect/converters/avro/avro-converter.ts';
import { jsonSchemaConverterOptions } from '../../src/connect/converters/json-schema/json-schema-converter.ts';
import { protobufConverterOptions } from '../../src/connect/converters/protobuf/protobuf-converter.ts';
import { registryOptions } from '../../src/connect/converters/schema-registry/registry-options.ts';
import { describeOptions } from '../../src/config/describe.ts';
import { distributedOptions } from '../../src/config/distributed-options.ts';
import type { OptionDeclarations } from '../../src/config/option.ts';
import {
  commonWorkerOptions,
  ownWorkerOptions,
  restOptions,
  standaloneOptions,
} from '../../src/config/worker-options.ts';

/** The option tables of the README, each between `<!-- options: NAME -->` and `<!-- end -->`. */
const TABLES: Readonly<Record<string, OptionDeclarations>> = {
  sink: sinkOptions,
  source: sourceOptions,
  worker: { ...commonWorkerOptions, ...restOptions },
  distributed: distributedOptions,
  standalone: standaloneOptions,
  own: ownWorkerOptions,
  registry: without({ 'converter.type': true }, registryOptions),
  avro: without(registryOptions, avroConverterOptions),
  protobuf: without(registryOptions, protobufConverterOptions),
  jsonschema: without(registryOptions, jsonSchemaConverterOptions),
  http: Object.fromEntries(Object.entries(serviceOptions).map(([name, option]) => [`database.http.${name}`, option])),
};

function without(others: object, options: OptionDeclarations): OptionDeclarations {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(others, name)));
}

export const readmePath = fileURLToPath(new URL('../../README.md', import.meta.url));

/** The README with every table as the declarations have it now; throws for a marker without a table. */
export function withOptionTables(readme: string): string {
  return readme.replace(/<!-- options: (\w+) -->\n[\s\S]*?<!-- end -->/g, (_whole, name: string) => {
    const declarations = TABLES[name];
    if (declarations === undefined) throw new Error(`README.md asks for options ${name}, which there are not`);
    return `<!-- options: ${name} -->\n${describeOptions(declarations).trim()}\n<!-- end -->`;
  });
}

/** `npm run docs`. */
export async function generateDocs(): Promise<void> {
  await writeFile(readmePath, withOptionTables(await readFile(readmePath, 'utf8')));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generateDocs();
