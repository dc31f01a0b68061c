import { listEntries } from './list-text.ts';
import { clientDefinitions, type ClientKind } from './client-definitions.ts';
import type { ValidatedSection } from './config-values.ts';
import type { OptionDeclarations, OptionResult } from './option.ts';
import { overrideError, type OverridePolicy } from './override-policy.ts';
import { parseValue, type RawConfig } from './parse.ts';
import { toError } from '../errors.ts';

/**
 * Validates the client settings that a connector overrides, for the kinds of clients that it uses, against the policy
 * (org.apache.kafka.connect.runtime.AbstractHerder#validateClientOverrides).
 */
export function overrideSections(
  config: RawConfig,
  type: 'sink' | 'source',
  policy: OverridePolicy,
  topicCreationEnabled: boolean,
): ValidatedSection[] {
  const deadLetters = listEntries(config['errors.deadletterqueue.topic.name'] ?? '').length > 0;
  const createsTopics = topicCreationEnabled && Object.keys(config).some((name) => name.startsWith('topic.creation.'));
  const used: Readonly<Record<ClientKind, boolean>> = {
    producer: type === 'source' || deadLetters,
    admin: type === 'source' ? createsTopics : deadLetters,
    consumer: type === 'sink',
  };
  return (['producer', 'admin', 'consumer'] as const)
    .filter((kind) => used[kind])
    .map((kind) => {
      const prefix = `${kind}.override.`;
      const given = Object.entries(config).filter(([name]) => name.startsWith(prefix) && name !== prefix);
      const known = clientDefinitions(kind);
      const declarations: Record<string, OptionDeclarations[string]> = {};
      const results = given.map(([name, raw]) => {
        const setting = name.slice(prefix.length);
        const declaration = known[setting];
        if (declaration !== undefined) declarations[name] = { ...declaration, displayName: setting };
        return overrideResult(name, setting, raw ?? null, declaration?.type ?? 'STRING', policy);
      });
      return { declarations, results };
    });
}

function overrideResult(
  name: string,
  setting: string,
  raw: string | null,
  type: OptionDeclarations[string]['type'],
  policy: OverridePolicy,
): OptionResult {
  const refused = overrideError(policy, setting);
  const errors = refused === undefined ? [] : [refused];
  let value: unknown = null;
  try {
    value = parseValue(setting, type, raw);
  } catch (error) {
    errors.push(toError(error).message);
  }
  return { name, value, recommendedValues: [], errors, visible: true };
}
