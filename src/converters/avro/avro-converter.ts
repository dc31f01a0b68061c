import { declareOptions } from '../../config/option.ts';
import { parseOptions } from '../../config/parse.ts';
import { SLUICE_VERSION } from '../../version.ts';
import type { ConverterPlugin } from '../../connect/api.ts';
import { formatOptions } from '../schema-registry/format-options.ts';
import { diagnoseRegistry } from '../schema-registry/registry-diagnosis.ts';
import { registryConverter, registryOptions } from '../schema-registry/registry-options.ts';
import { loadAvro } from './avro-codec.ts';
import { AvroFormat } from './avro-format.ts';

/** @internal */
export const avroConverterOptions = declareOptions({
  ...registryOptions,
  'connect.meta.data': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation:
      'Whether properties of Avro schemas contain the attributes of Connect schemas that Avro cannot express, such as version and parameters.',
  },
  'enhanced.avro.schema.support': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether values that were read from Avro enums are written as enums, and whether members of unions keep their namespaces.',
  },
  'generalized.sum.type.support': formatOptions['generalized.sum.type.support'],
  'scrub.invalid.names': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether characters that Avro forbids in names are replaced, for example `-` by `_`.',
  },
  'discard.type.doc.default': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether the documentation and the default of a field have precedence over those of its type.',
  },
  'allow.optional.map.keys': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether maps with optional text keys become Avro maps.',
  },
  'flatten.singleton.unions': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether a union with only one member is treated like this member.',
  },
  'ignore.default.for.nullables': formatOptions['ignore.default.for.nullables'],
});

/** io.confluent.connect.avro.AvroConverter. */
export const avroConverterPlugin: ConverterPlugin = {
  type: 'converter',
  className: 'io.confluent.connect.avro.AvroConverter',
  version: SLUICE_VERSION,
  options: avroConverterOptions,
  diagnose: diagnoseRegistry,
  create(config, isKey) {
    const options = parseOptions(avroConverterOptions, { ...config, 'converter.type': isKey ? 'key' : 'value' });
    loadAvro();
    const format = new AvroFormat({
      connectMetaData: options['connect.meta.data'],
      enhanced: options['enhanced.avro.schema.support'],
      generalized: options['generalized.sum.type.support'],
      scrubInvalidNames: options['scrub.invalid.names'],
      discardTypeDocDefault: options['discard.type.doc.default'],
      allowOptionalMapKeys: options['allow.optional.map.keys'],
      flattenSingletonUnions: options['flatten.singleton.unions'],
      ignoreDefaultForNullables: options['ignore.default.for.nullables'],
    });
    return registryConverter(format, options, config, isKey);
  },
};
