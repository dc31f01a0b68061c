import assert from 'node:assert/strict';
import { configInfos } from '../../../src/config/config-values.ts';
import { validateConnectorSections, type ListedOptions } from '../../../src/config/connector-sections.ts';
import { declareOptions, type OptionDeclarations } from '../../../src/config/option.ts';
import type { RawConfig } from '../../../src/config/parse.ts';
import type { ChoiceKind, PluginChoice, PluginChoices } from '../../../src/config/plugin-choices.ts';
import { atLeast, nullOr, oneOf, oneOfIgnoringCase } from '../../../src/config/validators.ts';

const none: OptionDeclarations = {};
const encoding = declareOptions({
  'converter.type': { type: 'STRING', importance: 'LOW', documentation: '' },
  size: { type: 'INT', default: 10, importance: 'LOW', documentation: '', group: 'Sizes', validator: atLeast(1) },
});
const masking = declareOptions({
  text: { type: 'STRING', default: '', importance: 'LOW', documentation: '' },
  fields: { type: 'LIST', importance: 'HIGH', documentation: '' },
  mode: { type: 'STRING', default: 'hide', importance: 'LOW', documentation: '', validator: oneOf('hide', 'drop') },
  count: { type: 'INT', default: 1, importance: 'MEDIUM', documentation: '', validator: atLeast(1) },
});
const own = declareOptions({
  unit: {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: '',
    validator: nullOr(oneOfIgnoringCase('ms', 's')),
  },
  format: {
    type: 'STRING',
    default: 'text',
    importance: 'LOW',
    documentation: '',
    validator: oneOf('text', 'binary'),
    recommender: { validValues: () => ['text'], visible: () => true },
  },
  file: { type: 'STRING', default: null, importance: 'HIGH', documentation: '' },
});

const installed: Readonly<Record<ChoiceKind, readonly PluginChoice[]>> = {
  connector: [{ className: 'x.FileSinkConnector', version: '1.2', options: own }],
  converter: [
    { className: 'x.TextConverter', version: '1.0', options: encoding },
    { className: 'x.JsonConverter', version: '1.0', options: none },
  ],
  header_converter: [{ className: 'x.HeaderConverter', version: '1.0', options: none }],
  transformation: [
    { className: 'x.Mask$Key', version: '2.0', options: masking },
    { className: 'x.Mask$Value', version: '2.0', options: masking },
  ],
  predicate: [{ className: 'x.IsEmpty', version: '2.0', options: none }],
};

const plugins: PluginChoices = {
  ofType: (kind) => installed[kind],
  tryFind: (kind, name) =>
    installed[kind].find(
      ({ className }) => className === name || className === `x.${name}` || className === `x.${name}Converter`,
    ),
};

function validate(config: RawConfig, listed?: ListedOptions) {
  const [connector] = installed.connector;
  assert.ok(connector);
  const sections = validateConnectorSections(
    { name: 'n', 'connector.class': 'x.FileSinkConnector', topics: 't', ...config },
    {
      type: 'sink',
      connector,
      plugins,
      converterConfig: {
        'key.converter': 'Text',
        'value.converter': 'x.JsonConverter',
        'header.converter': 'x.HeaderConverter',
      },
    },
    listed,
  );
  const infos = configInfos('x.FileSinkConnector', sections);
  const of = (name: string) => {
    const found = infos.configs.find(({ value }) => value.name === name);
    assert.ok(found, name);
    return found;
  };
  return { infos, of, errors: infos.configs.flatMap(({ value }) => value.errors) };
}

describe('validating a connector', () => {
  it("shows the worker's converters and the installed versions as defaults", () => {
    const { infos, of, errors } = validate({});
    assert.deepEqual(errors, []);
    assert.equal(of('key.converter').definition?.default_value, 'x.TextConverter');
    assert.equal(of('key.converter').value.value, 'x.TextConverter');
    assert.deepEqual(of('key.converter').value.recommended_values, ['x.TextConverter', 'x.JsonConverter']);
    assert.equal(of('connector.plugin.version').value.value, '1.2');
    assert.deepEqual(of('value.converter.plugin.version').value.recommended_values, ['1.0']);
    assert.deepEqual(infos.groups, ['Common', 'Transforms', 'Predicates', 'Error Handling']);
    assert.equal(infos.configs.at(-1)?.value.name, 'file');
  });

  it("recommends the values of closed sets for the connector's options, and for Connect's if all are requested", () => {
    const config = { transforms: 'm', 'transforms.m.type': 'x.Mask$Value', 'transforms.m.fields': 'a' };
    const recommended = (listed?: ListedOptions) => {
      const { of } = validate(config, listed);
      return ['unit', 'format', 'file', 'errors.tolerance', 'transforms.m.mode'].map(
        (name) => of(name).value.recommended_values,
      );
    };
    assert.deepEqual(recommended(), [['ms', 's'], ['text'], [], [], []]);
    assert.deepEqual(recommended('all'), [['ms', 's'], ['text'], [], ['none', 'all'], ['hide', 'drop']]);
  });

  it('lists options that Kafka Connect does not have if they are set or all are requested', () => {
    const own = (config: RawConfig, listed?: ListedOptions) =>
      validate(config, listed).infos.configs.flatMap(({ value: { name } }) =>
        /^(?:task|rate|restart|stall|degraded|lagging)\./.test(name) ? [name] : [],
      );
    assert.deepEqual(own({}), []);
    assert.deepEqual(own({ 'restart.policy': 'never' }), ['restart.policy']);
    const all = own({}, 'all');
    for (const name of ['task.isolation', 'stall.after.ms', 'rate.limit.records', 'restart.policy']) {
      assert.ok(all.includes(name), name);
    }
  });

  it('adds the options of a converter that the connector names, with messages without their prefix', () => {
    const { infos, of, errors } = validate({ 'value.converter': 'Text', 'value.converter.size': '0' });
    assert.deepEqual(errors, ['Invalid value 0 for configuration size: Value must be at least 1']);
    assert.equal(of('value.converter').value.value, 'x.TextConverter');
    assert.equal(of('value.converter.converter.type').value.value, 'value');
    assert.equal(of('value.converter.size').definition?.display_name, 'size');
    assert.deepEqual(infos.groups.at(-1), 'Sizes');
  });

  it('hides the version of a converter that does not exist', () => {
    const { of, errors } = validate({ 'value.converter': 'x.Nope' });
    assert.deepEqual(errors, [
      'Invalid value x.Nope for configuration value.converter: Class x.Nope could not be found.',
    ]);
    assert.equal(of('value.converter').value.value, null);
    assert.equal(of('value.converter.plugin.version').value.visible, false);
  });

  it('lists the options of a transformation: required first, then by importance, then by name', () => {
    const { of, infos, errors } = validate({
      transforms: 'm',
      'transforms.m.type': 'x.Mask$Value',
      'transforms.m.fields': 'a,b',
    });
    assert.deepEqual(errors, []);
    const listed = infos.configs.filter(({ definition }) => definition?.group === 'Transforms: m');
    assert.deepEqual(
      listed.map(({ definition }) => [definition?.name, definition?.order_in_group]),
      ['type', 'plugin.version', 'fields', 'count', 'negate', 'predicate', 'mode', 'text'].map((name, index) => [
        `transforms.m.${name}`,
        index,
      ]),
    );
    assert.equal(of('transforms.m.fields').value.value, 'a,b');
    assert.equal(of('transforms.m.type').definition?.display_name, 'Transformation type for m');
  });

  it('reports every error in a transformation', () => {
    const { errors } = validate({
      transforms: 'm',
      'transforms.m.type': 'x.Mask$Value',
      'transforms.m.count': '0',
      'transforms.m.negate': 'perhaps',
    });
    assert.deepEqual(errors, [
      "Config 'transforms.m.negate' was provided but there is no config 'transforms.m.predicate' defining a predicate to be negated.",
      'Missing required configuration "transforms.m.fields" which has no default value.',
      'Invalid value 0 for configuration count: Value must be at least 1',
      'Invalid value perhaps for configuration transforms.m.negate: Expected value to be either true or false',
    ]);
  });

  it('lists no options of a transformation whose version is not installed, and reports this at type and version', () => {
    const { errors, infos } = validate({
      transforms: 'm',
      'transforms.m.type': 'x.Mask$Value',
      'transforms.m.count': '0',
      'transforms.m.plugin.version': '9.9',
    });
    const text = 'Plugin x.Mask$Value not found that matches the version range [9.9,9.9], available versions: [2.0]';
    assert.deepEqual(errors, [text, text]);
    const listed = infos.configs.filter(({ definition }) => definition?.group === 'Transforms: m');
    assert.deepEqual(
      listed.map(({ value }) => value.name),
      ['transforms.m.type', 'transforms.m.plugin.version'],
    );
  });

  it('reports a class of the wrong kind', () => {
    const error = (config: RawConfig) => validate(config).errors[0];
    assert.equal(
      error({ transforms: 'm', 'transforms.m.type': 'x.Mask' }),
      'This class is abstract and cannot be created. Did you mean x.Mask$Key, x.Mask$Value?',
    );
    assert.equal(
      error({ transforms: 'm', 'transforms.m.type': 'x.JsonConverter' }),
      'Class class x.JsonConverter does not implement the Transformation interface',
    );
    assert.equal(
      error({ predicates: 'p' }),
      'Missing required configuration "predicates.p.type" which has no default value.',
    );
    assert.equal(
      error({ 'key.converter': 'x.IsEmpty' }),
      'Class class x.IsEmpty does not implement the Converter interface',
    );
  });

  it('shows thread options only if they are set, with their errors', () => {
    const shown = (config: RawConfig) => {
      const { infos } = validate(config);
      return infos.configs
        .filter(({ definition }) => definition?.group === 'Threads')
        .map(({ value }) => [value.name, value.value, value.errors]);
    };
    assert.deepEqual(shown({}), []);
    assert.deepEqual(shown({ 'task.isolation': 'own', 'task.memory.max.mb': '64' }), [
      ['task.isolation', 'own', []],
      ['task.memory.max.mb', '64', []],
    ]);
    assert.deepEqual(shown({ 'task.isolation': 'alone' }), [
      [
        'task.isolation',
        'alone',
        ['Invalid value alone for configuration task.isolation: String must be one of: shared, own'],
      ],
    ]);
    assert.deepEqual(shown({ 'task.isolation': 'own', 'task.memory.max.mb': '31' }).at(-1), [
      'task.memory.max.mb',
      '31',
      ['Invalid value 31 for configuration task.memory.max.mb: Value must be at least 32'],
    ]);
    assert.deepEqual(shown({ 'task.memory.max.mb': '64' }), [
      [
        'task.memory.max.mb',
        '64',
        ['task.memory.max.mb needs task.isolation=own: tasks that share a thread share its heap'],
      ],
    ]);
  });
});
