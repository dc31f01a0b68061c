import { readFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Ajv } from 'ajv';
import { toError } from '../../../errors.ts';
import type { ConfigProviderPlugin } from '../../../config/providers/config-provider.ts';
import type { Plugin } from '../../api.ts';

export type PackagedType = Plugin['type'] | ConfigProviderPlugin['type'];

/** One plugin class of a package, as declared in its manifest. */
export interface PackagedClass {
  readonly type: PackagedType;
  readonly className: string;
  /** Absolute path of the module that exports it. */
  readonly module: string;
}

/** An npm package with plugins: its package.json contains `sluice.plugins`. */
export interface PluginPackage {
  readonly name: string;
  /** The version of the package, which is the version of all its plugins. */
  readonly version: string;
  readonly folder: string;
  readonly classes: readonly PackagedClass[];
}

interface PackageFile {
  readonly name?: string;
  readonly version: string;
  readonly sluice: { readonly plugins: readonly { type: PackagedType; class: string; module?: string }[] };
}

const TYPES: readonly PackagedType[] = [
  'sink',
  'source',
  'converter',
  'header_converter',
  'transformation',
  'predicate',
  'config_provider',
];

const ajv = new Ajv();
const isPackageFile = ajv.compile<PackageFile>({
  type: 'object',
  properties: {
    name: { type: 'string' },
    version: { type: 'string', minLength: 1 },
    sluice: {
      type: 'object',
      properties: {
        plugins: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              type: { enum: TYPES },
              class: { type: 'string', minLength: 1 },
              module: { type: 'string', minLength: 1 },
            },
            required: ['type', 'class'],
          },
        },
      },
      required: ['plugins'],
    },
  },
  required: ['version', 'sluice'],
});

/**
 * Reads the plugins of the package in a folder. Resolves with `undefined` if the folder is not a package with Sluice plugins.
 * Rejects if the package.json is invalid.
 */
export async function readPluginPackage(folder: string): Promise<PluginPackage | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('sluice' in parsed)) return undefined;
  if (!isPackageFile(parsed)) {
    const [error] = isPackageFile.errors ?? [];
    throw new Error(`its package.json is invalid: ${error?.instancePath ?? ''} ${error?.message ?? ''}`);
  }
  const classes = parsed.sluice.plugins.map(({ type, class: className, module = 'index.js' }) => {
    return { type, className, module: moduleWithin(folder, module) };
  });
  return { name: parsed.name ?? folder, version: parsed.version, folder, classes };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`its package.json is not JSON: ${toError(error).message}`, { cause: error });
  }
}

function moduleWithin(folder: string, module: string): string {
  const path = resolve(folder, module);
  if (!path.startsWith(`${resolve(folder)}${sep}`)) throw new Error(`its module ${module} is outside of the package`);
  return path;
}
