import { declareOptions } from '../../config/option.ts';
import { parseOptions } from '../../config/parse.ts';
import { SLUICE_VERSION } from '../../version.ts';
import type { ConverterPlugin } from '../../connect/api.ts';
import { formatOptions } from '../schema-registry/format-options.ts';
import { diagnoseRegistry } from '../schema-registry/registry-diagnosis.ts';
import { registryConverter, registryOptions } from '../schema-registry/registry-options.ts';
import { loadProtobuf } from './protobuf-files.ts';
import { ProtobufFormat } from './protobuf-format.ts';

/** @internal */
export const protobufConverterOptions = declareOptions({
  ...registryOptions,
  'enhanced.protobuf.schema.support': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether the names of schemas include the package of the message.',
  },
  'generalized.sum.type.support': formatOptions['generalized.sum.type.support'],
  'scrub.invalid.names': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether characters that Protobuf forbids in names are replaced, for example `-` by `_`.',
  },
  'int.for.enums': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether enums are read as numbers instead of texts. Both can be written.',
  },
  'optional.for.nullables': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether `optional` marks scalars and enums that may be null; other scalars and enums may not be null.',
  },
  'optional.for.proto2': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether `optional` fields of proto2 are null if they are not set.',
  },
  'wrapper.for.nullables': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether wrapper messages represent scalars that may be null; other scalars and enums may not be null.',
  },
  'wrapper.for.raw.primitives': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation: 'Whether values that are not structs are written in wrapper messages, and read from them.',
  },
  'generate.struct.for.nulls': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether a message that is not set becomes a struct of default values instead of null.',
  },
  'generate.index.for.unions': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether fields of unions are named `<oneof>_<index>` instead of `<oneof>`.',
  },
  'flatten.unions': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether the members of a oneof become fields of the message itself.',
  },
  'ignore.default.for.nullables': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether a null is not written, although its field has a default.',
  },
});

/** io.confluent.connect.protobuf.ProtobufConverter. */
export const protobufConverterPlugin: ConverterPlugin = {
  type: 'converter',
  className: 'io.confluent.connect.protobuf.ProtobufConverter',
  version: SLUICE_VERSION,
  options: protobufConverterOptions,
  diagnose: diagnoseRegistry,
  create(config, isKey) {
    const options = parseOptions(protobufConverterOptions, { ...config, 'converter.type': isKey ? 'key' : 'value' });
    loadProtobuf();
    const format = new ProtobufFormat({
      enhanced: options['enhanced.protobuf.schema.support'],
      generalized: options['generalized.sum.type.support'],
      scrubInvalidNames: options['scrub.invalid.names'],
      intForEnums: options['int.for.enums'],
      optionalForNullables: options['optional.for.nullables'],
      optionalForProto2: options['optional.for.proto2'],
      wrapperForNullables: options['wrapper.for.nullables'],
      wrapperForRawPrimitives: options['wrapper.for.raw.primitives'],
      structForNulls: options['generate.struct.for.nulls'],
      indexForUnions: options['generate.index.for.unions'],
      flattenUnions: options['flatten.unions'],
      ignoreDefaultForNullables: options['ignore.default.for.nullables'],
    });
    return registryConverter(format, options, config, isKey);
  },
};
