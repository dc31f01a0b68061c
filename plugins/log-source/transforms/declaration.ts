import {
  SLUICE_VERSION,
  type ConnectorConfig,
  type OptionDeclarations,
  type PlannableTransformation,
  type TransformationPlugin,
} from '../../../src/index.ts';

/** Declares a transform of Debezium under its Java class name. */
export function debeziumTransform(
  name: string,
  options: OptionDeclarations,
  create: (config: ConnectorConfig) => PlannableTransformation,
): TransformationPlugin {
  return {
    type: 'transformation',
    className: `io.debezium.transforms.${name}`,
    version: SLUICE_VERSION,
    options,
    create,
  };
}
