import type { ConnectorConfig } from '../../connect/api.ts';

const CHAIN = /^(?:transforms|predicates)(?:\.|$)/;

export function isChainOption(key: string): boolean {
  return CHAIN.test(key);
}

/** A configuration with other transforms and predicates; `undefined`: it stays as it is. */
export function withChain(config: ConnectorConfig, chain: ConnectorConfig | undefined): ConnectorConfig {
  if (chain === undefined) return config;
  const others = Object.entries(config).filter(([key]) => !isChainOption(key));
  return { ...Object.fromEntries(others), ...chain };
}
