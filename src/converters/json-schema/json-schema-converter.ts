import { declareOptions } from '../../config/option.ts';
import { parseOptions } from '../../config/parse.ts';
import { oneOfIgnoringCase } from '../../config/validators.ts';
import { SLUICE_VERSION } from '../../version.ts';
import type { ConverterPlugin } from '../../connect/api.ts';
import { formatOptions } from '../schema-registry/format-options.ts';
import { diagnoseRegistry } from '../schema-registry/registry-diagnosis.ts';
import { registryConverter, registryOptions } from '../schema-registry/registry-options.ts';
import { JsonSchemaFormat } from './json-schema-format.ts';

/** @internal */
export const jsonSchemaConverterOptions = declareOptions({
  ...registryOptions,
  'decimal.format': {
    type: 'STRING',
    default: 'BASE64',
    importance: 'LOW',
    documentation: 'How decimals are written: BASE64 of their unscaled value, or NUMERIC. Both can be read.',
    validator: oneOfIgnoringCase('NUMERIC', 'BASE64'),
  },
  'object.additional.properties': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation: 'Whether registered schemas allow additional properties that they do not declare.',
  },
  'use.optional.for.nonrequired': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether properties that are not required become optional fields.',
  },
  'generalized.sum.type.support': formatOptions['generalized.sum.type.support'],
  'flatten.singleton.unions': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether a `oneOf` or `anyOf` with only one schema is treated like this schema.',
  },
  'ignore.default.for.nullables': formatOptions['ignore.default.for.nullables'],
});

/** io.confluent.connect.json.JsonSchemaConverter. */
export const jsonSchemaConverterPlugin: ConverterPlugin = {
  type: 'converter',
  className: 'io.confluent.connect.json.JsonSchemaConverter',
  version: SLUICE_VERSION,
  options: jsonSchemaConverterOptions,
  diagnose: diagnoseRegistry,
  create(config, isKey) {
    const options = parseOptions(jsonSchemaConverterOptions, { ...config, 'converter.type': isKey ? 'key' : 'value' });
    const format = new JsonSchemaFormat({
      generalized: options['generalized.sum.type.support'],
      flattenSingletonUnions: options['flatten.singleton.unions'],
      additionalProperties: options['object.additional.properties'],
      optionalForNonRequired: options['use.optional.for.nonrequired'],
      ignoreDefaultForNullables: options['ignore.default.for.nullables'],
      decimalFormat: options['decimal.format'].toUpperCase() === 'NUMERIC' ? 'NUMERIC' : 'BASE64',
    });
    return registryConverter(format, options, config, isKey);
  },
};
