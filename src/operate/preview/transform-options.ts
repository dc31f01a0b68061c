import type { ConnectorConfig } from '../../connect/api.ts';

const CHAIN = /^(?:transforms|predicates)(?:\.|$)/;

export function isChainOption(key: string): boolean {
  return CHAIN.test(key);
}

/**
 * Replaces the transforms and predicates of a configuration. `chain`: the new options; `undefined`: nothing is
 * replaced.
 */
export function withChain(config: ConnectorConfig, chain: ConnectorConfig | undefined): ConnectorConfig {
  if (chain === undefined) return config;
  const others = Object.entries(config).filter(([key]) => !isChainOption(key));
  return { ...Object.fromEntries(others), ...chain };
}
