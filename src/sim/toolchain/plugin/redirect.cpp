// SPDX-License-Identifier: Apache-2.0
#include "redirect.hpp"
#include "compiler.hpp"

namespace txsync::sim::plugin {
namespace {

// Builtins of the middle end, which would expand them inline without a hook. The checked forms (_chk) lose their last
// argument, the size of the object.
struct memory_builtin {
  built_in_function code;
  const char* name;
  unsigned arguments;
};
constexpr memory_builtin memory_builtins[] = {
    {BUILT_IN_MEMCPY, "txsync_sim_memcpy", 3},         {BUILT_IN_MEMCPY_CHK, "txsync_sim_memcpy", 3},
    {BUILT_IN_MEMMOVE, "txsync_sim_memmove", 3},       {BUILT_IN_MEMMOVE_CHK, "txsync_sim_memmove", 3},
    {BUILT_IN_MEMPCPY, "txsync_sim_mempcpy", 3},       {BUILT_IN_MEMPCPY_CHK, "txsync_sim_mempcpy", 3},
    {BUILT_IN_MEMSET, "txsync_sim_memset", 3},         {BUILT_IN_MEMSET_CHK, "txsync_sim_memset", 3},
    {BUILT_IN_MEMCMP, "txsync_sim_memcmp", 3},         {BUILT_IN_MEMCMP_EQ, "txsync_sim_memcmp", 3},
    {BUILT_IN_BCMP, "txsync_sim_memcmp", 3},           {BUILT_IN_MEMCHR, "txsync_sim_memchr", 3},
    {BUILT_IN_BZERO, "txsync_sim_bzero", 2},           {BUILT_IN_BCOPY, "txsync_sim_bcopy", 3},
    {BUILT_IN_STRLEN, "txsync_sim_strlen", 1},         {BUILT_IN_STRNLEN, "txsync_sim_strnlen", 2},
    {BUILT_IN_STRCMP, "txsync_sim_strcmp", 2},         {BUILT_IN_STRCMP_EQ, "txsync_sim_strcmp", 2},
    {BUILT_IN_STRNCMP, "txsync_sim_strncmp", 3},       {BUILT_IN_STRNCMP_EQ, "txsync_sim_strncmp", 3},
    {BUILT_IN_STRCPY, "txsync_sim_strcpy", 2},         {BUILT_IN_STRCPY_CHK, "txsync_sim_strcpy", 2},
    {BUILT_IN_STRNCPY, "txsync_sim_strncpy", 3},       {BUILT_IN_STRNCPY_CHK, "txsync_sim_strncpy", 3},
    {BUILT_IN_STPCPY, "txsync_sim_stpcpy", 2},         {BUILT_IN_STPCPY_CHK, "txsync_sim_stpcpy", 2},
    {BUILT_IN_STRCAT, "txsync_sim_strcat", 2},         {BUILT_IN_STRCAT_CHK, "txsync_sim_strcat", 2},
    {BUILT_IN_STRNCAT, "txsync_sim_strncat", 3},       {BUILT_IN_STRNCAT_CHK, "txsync_sim_strncat", 3},
    {BUILT_IN_STRCHR, "txsync_sim_strchr", 2},         {BUILT_IN_INDEX, "txsync_sim_strchr", 2},
    {BUILT_IN_STRRCHR, "txsync_sim_strrchr", 2},       {BUILT_IN_RINDEX, "txsync_sim_strrchr", 2},
    {BUILT_IN_STRSTR, "txsync_sim_strstr", 2},         {BUILT_IN_STRPBRK, "txsync_sim_strpbrk", 2},
    {BUILT_IN_STRSPN, "txsync_sim_strspn", 2},         {BUILT_IN_STRCSPN, "txsync_sim_strcspn", 2},
    {BUILT_IN_STRCASECMP, "txsync_sim_strcasecmp", 2}, {BUILT_IN_STRNCASECMP, "txsync_sim_strncasecmp", 3},
    {BUILT_IN_PREFETCH, "txsync_sim_prefetch", 2},
};

// Builtins of the processor, by name.
struct processor_builtin {
  const char* builtin;
  const char* name;
  unsigned arguments;
};
constexpr processor_builtin processor_builtins[] = {
    {"__builtin_ia32_pause", "txsync_sim_relax", 0},  {"__builtin_ia32_mfence", "txsync_sim_fence", 0},
    {"__builtin_ia32_rdtsc", "txsync_sim_cycles", 0}, {"__builtin_ia32_xbegin", "txsync_sim_begin", 0},
    {"__builtin_ia32_xend", "txsync_sim_end", 0},     {"__builtin_ia32_xabort", "txsync_sim_abort", 1},
    {"__builtin_ia32_xtest", "txsync_sim_depth", 0},
};

// One declaration for each entry of the tables; the last three are the hooks.
constexpr unsigned memory_count = ARRAY_SIZE(memory_builtins);
constexpr unsigned processor_count = ARRAY_SIZE(processor_builtins);
constexpr unsigned relax_at = memory_count;  // the first of the processor's
static_assert(processor_builtins[0].arguments == 0);
tree declarations[memory_count + processor_count + 3];

tree declare(unsigned at, const char* name, tree type) {
  if (declarations[at]) return declarations[at];
  tree made = build_fn_decl(name, type);
  SET_DECL_ASSEMBLER_NAME(made, get_identifier(name));
  TREE_NOTHROW(made) = 1;
  return declarations[at] = made;
}

// The result keeps its type, whatever the replacement returns (an int for an int, a pointer for a pointer).
bool redirect(gcall* call, tree declaration, unsigned arguments, gimple_stmt_iterator* at) {
  auto_vec<tree> kept;
  for (unsigned i = 0; i < arguments; ++i) {
    kept.safe_push(i < gimple_call_num_args(call) ? gimple_call_arg(call, i) : integer_zero_node);
  }
  gcall* made = gimple_build_call_vec(declaration, kept);
  gimple_call_set_lhs(made, gimple_call_lhs(call));
  gimple_set_location(made, gimple_location(call));
  gimple_set_block(made, gimple_block(call));
  gimple_move_vops(made, call);
  gsi_replace(at, made, false);
  return true;
}

tree relax() {
  return declare(relax_at, processor_builtins[0].name, build_function_type_list(void_type_node, NULL_TREE));
}

}  // namespace

const ggc_root_tab roots[] = {
    {static_cast<void*>(declarations), ARRAY_SIZE(declarations), sizeof declarations[0], &gt_ggc_mx_tree_node,
     &gt_pch_nx_tree_node},
    LAST_GGC_ROOT_TAB,
};

tree declared(hook which) {
  const unsigned at = memory_count + processor_count + static_cast<unsigned>(which);
  if (which == hook::system_call) {
    return declare(at, "txsync_sim_system_call", build_function_type_list(void_type_node, ptr_type_node, NULL_TREE));
  }
  tree type = build_function_type_list(void_type_node, ptr_type_node, size_type_node, NULL_TREE);
  return declare(at, which == hook::read_range ? "__tsan_read_range" : "__tsan_write_range", type);
}

bool redirect_builtin(gcall* call, gimple_stmt_iterator* at) {
  tree function = gimple_call_fndecl(call);
  if (!function) return false;
  if (fndecl_built_in_p(function, BUILT_IN_NORMAL)) {
    const built_in_function code = DECL_FUNCTION_CODE(function);
    for (unsigned i = 0; i < memory_count; ++i) {
      const memory_builtin& known = memory_builtins[i];
      if (known.code == code) {
        return redirect(call, declare(i, known.name, TREE_TYPE(function)), known.arguments, at);
      }
    }
  } else if (fndecl_built_in_p(function, BUILT_IN_MD)) {
    const char* name = IDENTIFIER_POINTER(DECL_NAME(function));
    for (unsigned i = 0; i < processor_count; ++i) {
      const processor_builtin& known = processor_builtins[i];
      if (strcmp(known.builtin, name) == 0) {
        return redirect(call, declare(memory_count + i, known.name, TREE_TYPE(function)), known.arguments, at);
      }
    }
  }
  return false;
}

bool replace_pause(gasm* statement, gimple_stmt_iterator* at) {
  const char* text = gimple_asm_string(statement);
  if (!text || gimple_asm_noutputs(statement) > 0 || gimple_asm_ninputs(statement) > 0) return false;
  constexpr const char* forms[] = {"pause", "rep; nop", "rep;nop", "rep nop"};
  for (const char* form : forms) {
    if (strcmp(text, form) != 0) continue;
    gcall* call = gimple_build_call(relax(), 0);
    gimple_set_location(call, gimple_location(statement));
    gimple_move_vops(call, statement);
    gsi_replace(at, call, false);
    return true;
  }
  return false;
}

}  // namespace txsync::sim::plugin
