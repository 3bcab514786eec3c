// Reading and writing of schedules in MSCCL's XML.
#pragma once

#include <string>
#include <string_view>

#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// True if the first character that is not white space opens an XML element.
bool is_xml(std::string_view text);

/// Parses a schedule as MSCCL's runtimes do (Azure/msccl-executor-nccl, ROCm/rccl), ignoring
/// unknown attributes. The result still needs check().
/// @throws exceptions::UserError with the line number if the text is not XML or not an MSCCL schedule
Schedule read_msccl_xml(std::string_view text);

/// Serializes a schedule as msccl-tools does; read_msccl_xml() restores it.
std::string write_msccl_xml(const Schedule& schedule);

}  // namespace equarx::schedules
