import assert from 'node:assert/strict';
import type { ConnectorConfig } from '../../../src/connect/api.ts';
import { transformationChain } from '../../../src/connect/pipeline/chain-builder.ts';
import { PluginRegistry } from '../../../src/connect/plugins/plugin-registry.ts';
import { predicatePlugins } from '../../../src/transforms/predicates/registry.ts';
import { transformationPlugins } from '../../../src/transforms/registry.ts';
import type { SourceRecord } from '../../../src/data/record.ts';
import { ConfigError, DataError } from '../../../src/errors.ts';

const registry = new PluginRegistry([...transformationPlugins, ...predicatePlugins]);
const chainOf = (config: ConnectorConfig) => transformationChain(config, registry);

function recordIn(topic: string, value: SourceRecord['value'] = 'v'): SourceRecord {
  return {
    topic,
    partition: null,
    keySchema: null,
    key: null,
    valueSchema: null,
    value,
    timestamp: 0,
    headers: [],
    sourcePartition: {},
    sourceOffset: {},
  };
}

const ROUTED = {
  'transforms.a.type': 'RegexRouter',
  'transforms.a.regex': '(.*)',
  'transforms.a.replacement': '$1-a',
  'transforms.b.type': 'org.apache.kafka.connect.transforms.RegexRouter',
  'transforms.b.regex': '(.*)',
  'transforms.b.replacement': '$1-b',
};

describe('a chain of transformations', () => {
  it('is empty without transforms', () => {
    assert.equal(chainOf({}).empty, true);
    assert.equal(chainOf({ transforms: '' }).empty, true);
  });

  it('applies them in the order of their aliases, regardless of the names of their classes', () => {
    const chain = chainOf({ ...ROUTED, transforms: ' b , a' });
    assert.equal(chain.empty, false);
    assert.equal(chain.apply(recordIn('t'))?.topic, 't-b-a');
  });

  it('evaluates the predicate before each, with the result of the previous one', () => {
    const config = {
      ...ROUTED,
      transforms: 'a,b',
      predicates: 'changed',
      'predicates.changed.type': 'TopicNameMatches',
      'predicates.changed.pattern': '.*-a',
      'transforms.b.predicate': 'changed',
    };
    assert.equal(chainOf(config).apply(recordIn('t'))?.topic, 't-a-b');
    assert.equal(chainOf({ ...config, 'transforms.b.negate': 'TRUE' }).apply(recordIn('t'))?.topic, 't-a');
  });

  it('ends with a record that is dropped', () => {
    const chain = chainOf({ ...ROUTED, transforms: 'drop,a', 'transforms.drop.type': 'Filter' });
    assert.equal(chain.apply(recordIn('t')), null);
  });

  it('names the transform that failed', () => {
    const type = 'org.apache.kafka.connect.transforms.Cast$Value';
    const chain = chainOf({ ...ROUTED, transforms: 'a,c', 'transforms.c.type': type, 'transforms.c.spec': 'int8' });
    assert.throws(() => chain.apply(recordIn('t', 'x')), DataError);
    assert.equal(chain.lastClassName, type);
  });

  it('refuses a predicate that is not declared, and a version that is not installed', () => {
    const config = {
      ...ROUTED,
      transforms: 'a',
      'transforms.a.predicate': 'p',
      'predicates.p.type': 'RecordIsTombstone',
    };
    assert.throws(
      () => chainOf(config),
      new ConfigError('The transform a names the predicate p, which is not in predicates'),
    );
    assert.throws(
      () => chainOf({ ...ROUTED, transforms: 'a', 'transforms.a.plugin.version': '3.9.0' }),
      /Plugin org.apache.kafka.connect.transforms.RegexRouter not found that matches the version range/,
    );
    assert.equal(chainOf({ ...ROUTED, transforms: 'a', 'transforms.a.plugin.version': '[4.0,5)' }).empty, false);
  });
});
