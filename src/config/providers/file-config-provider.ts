import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { decode, parseProperties } from '../properties-file.ts';
import type { ConfigProviderPlugin } from './config-provider.ts';
import { fileProvider } from './file-provider.ts';
import { reasonOf, readSmallFile } from './small-file.ts';
import { CONNECT_VERSION } from '../../version.ts';

/** `${file:/path/of.properties:key}`: a property of a file (org.apache.kafka.common.config.provider.FileConfigProvider). */
export const fileConfigProvider: ConfigProviderPlugin = {
  type: 'config_provider',
  className: 'org.apache.kafka.common.config.provider.FileConfigProvider',
  version: CONNECT_VERSION,
  create: (parameters, { logger }) =>
    fileProvider(parameters, logger, async (file, keys, path) => {
      const properties = await propertiesOf(file, path, logger);
      return new Map([...properties].filter(([key]) => keys.has(key)));
    }),
};

/** Does not log the parser's message, which would quote the content of the file. */
async function propertiesOf(file: string, path: string, logger: Logger): Promise<ReadonlyMap<string, string>> {
  let bytes: Uint8Array;
  try {
    bytes = await readSmallFile(file);
  } catch (error) {
    logger.error(`Could not read properties from file ${path}: ${reasonOf(error)}`);
    throw new ConfigError(`Could not read properties from file ${path}`);
  }
  try {
    return new Map(Object.entries(parseProperties(decode(bytes))));
  } catch {
    logger.error(`Could not read properties from file ${path}: it is malformed`);
    throw new ConfigError(`Could not read properties from file ${path}`);
  }
}
