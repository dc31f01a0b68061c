import type { ConfigProviderPlugin } from './config-provider.ts';
import { directoryConfigProvider } from './directory-config-provider.ts';
import { envVarConfigProvider } from './env-var-config-provider.ts';
import { fileConfigProvider } from './file-config-provider.ts';

/** The config providers of Apache Kafka 4.3. */
export const configProviderPlugins: readonly ConfigProviderPlugin[] = [
  directoryConfigProvider,
  envVarConfigProvider,
  fileConfigProvider,
];
