import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConfigProviderPlugin } from './config-provider.ts';
import { fileProvider } from './file-provider.ts';
import { reasonOf, readSmallFile } from './small-file.ts';
import { CONNECT_VERSION } from '../../version.ts';

/**
 * `${directory:/path:file}`: the content of a file in a directory, as Kubernetes mounts secrets
 * (org.apache.kafka.common.config.provider.DirectoryConfigProvider).
 */
export const directoryConfigProvider: ConfigProviderPlugin = {
  type: 'config_provider',
  className: 'org.apache.kafka.common.config.provider.DirectoryConfigProvider',
  version: CONNECT_VERSION,
  create: (parameters, { logger }) =>
    fileProvider(parameters, logger, async (directory, keys, path) => {
      if ((await stat(directory).catch(() => undefined))?.isDirectory() !== true) {
        logger.warn(`The path ${path} is not a directory`);
        return undefined;
      }
      const values = new Map<string, string>();
      // Only names in the directory itself are read, so a key with a slash cannot escape it.
      for (const name of (await namesIn(directory, logger)).filter((each) => keys.has(each))) {
        const file = join(directory, name);
        if ((await stat(file).catch(() => undefined))?.isFile() === true)
          values.set(name, await contentOf(file, name, logger));
      }
      return values;
    }),
};

async function namesIn(directory: string, logger: Logger): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    logger.error(`Could not list directory ${directory}: ${reasonOf(error)}`);
    throw new ConfigError(`Could not list directory ${directory}`);
  }
}

async function contentOf(file: string, name: string, logger: Logger): Promise<string> {
  try {
    return (await readSmallFile(file)).toString();
  } catch (error) {
    logger.error(`Could not read file ${file} for property ${name}: ${reasonOf(error)}`);
    throw new ConfigError(`Could not read file ${file} for property ${name}`);
  }
}
