import type { ConfigProviderPlugin } from './config-provider.ts';
import { directoryConfigProvider } from './directory-config-provider.ts';
import { envVarConfigProvider } from './env-var-config-provider.ts';
import { fileConfigProvider } from './file-config-provider.ts';
import { kubernetesConfigMapConfigProvider, kubernetesSecretConfigProvider } from './kubernetes-config-provider.ts';

/** The config providers of Apache Kafka 4.3, and those of Strimzi. */
export const configProviderPlugins: readonly ConfigProviderPlugin[] = [
  directoryConfigProvider,
  envVarConfigProvider,
  fileConfigProvider,
  kubernetesConfigMapConfigProvider,
  kubernetesSecretConfigProvider,
];
