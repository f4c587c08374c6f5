// SPDX-License-Identifier: Apache-2.0
// A plugin of GCC 12 that runs just before the ThreadSanitizer pass. It rewrites what that pass would leave without a
// hook, or with two hooks before one statement:
//
//   *p = f()      the pass looks at no operand of a call       ->  t = f(); *p = t
//   f(*p)         the same                                     ->  t = *p; f(t)
//   *q = *p       two hooks, either of which may switch        ->  t = *p; *q = t
//   memcpy(...)   builtins may be expanded inline, unhooked    ->  txsync_sim_memcpy(...)
//   pause, prefetch, rdtsc, RTM                                ->  the runtime's functions
//   asm("" : "=m"(*p)), fields of pointers to members          ->  __tsan_write_range(p, n) before it
//
// t is a local variable that no other thread can see. So each assignment above keeps one hook, right before the access.
#include "compiler.hpp"
#include "redirect.hpp"

// GCC asks plugins for a compatible licence. Apache-2.0 is compatible with version 3 of the GPL.
int plugin_is_GPL_compatible;

namespace {

using namespace txsync::sim::plugin;

bool escapes(tree declaration) {
  if (!may_be_aliased(declaration)) return false;
  pt_solution everything_escaped{};
  everything_escaped.escaped = 1;
  return pt_solution_includes(&everything_escaped, declaration);
}

// Whether the ThreadSanitizer pass would hook an access to `reference`: memory that another thread could reach.
bool is_shared_memory(tree reference) {
  if (TREE_CODE(reference) == WITH_SIZE_EXPR) reference = TREE_OPERAND(reference, 0);
  if (is_gimple_val(reference) || TREE_CODE(reference) == ADDR_EXPR) return false;
  tree base = get_base_address(reference);
  if (!base) return true;
  switch (TREE_CODE(base)) {
    case MEM_REF:
    case TARGET_MEM_REF:
      return true;
    case VAR_DECL:
    case PARM_DECL:
    case RESULT_DECL:
      return is_global_var(base) ? !TREE_READONLY(base) : escapes(base);
    default:
      return false;  // constants
  }
}

bool has_constant_size(tree type) {
  tree size = TYPE_SIZE_UNIT(type);
  return size && TREE_CODE(size) == INTEGER_CST && !integer_zerop(size);
}

// Whether this is a part of the result that the function writes to its caller's memory.
bool is_result(tree reference) {
  if (TREE_CODE(reference) == SSA_NAME || !has_constant_size(TREE_TYPE(reference))) return false;
  tree base = get_base_address(reference);
  return base && TREE_CODE(base) == RESULT_DECL && !is_gimple_reg(base) && aggregate_value_p(base, cfun->decl);
}

// The same bytes as `reference`, as an array of char. Temporaries of this type can be made, whatever the class is.
tree as_bytes(tree reference, gimple_stmt_iterator* at) {
  const unsigned HOST_WIDE_INT size = tree_to_uhwi(TYPE_SIZE_UNIT(TREE_TYPE(reference)));
  tree type = build_array_type_nelts(unsigned_char_type_node, size);
  tree address = build_fold_addr_expr(unshare_expr(reference));
  address = force_gimple_operand_gsi(at, address, true, NULL_TREE, true, GSI_SAME_STMT);
  tree alias_all = build_pointer_type_for_mode(char_type_node, VOIDmode, true);
  return build2(MEM_REF, type, address, build_int_cst(alias_all, 0));
}

gassign* assignment(tree to, tree from, gimple* place_of) {
  gassign* made = gimple_build_assign(to, from);
  gimple_set_location(made, gimple_location(place_of));
  return made;
}

tree temporary(tree type) { return is_gimple_reg_type(type) ? make_ssa_name(type) : create_tmp_var(type, "unseen"); }

// *q = *p
bool split_copy(gimple_stmt_iterator* at) {
  gimple* copy = gsi_stmt(*at);
  if (!gimple_assign_single_p(copy) || gimple_clobber_p(copy)) return false;
  tree to = gimple_assign_lhs(copy), from = gimple_assign_rhs1(copy);
  if (is_gimple_reg_type(TREE_TYPE(from)) || !has_constant_size(TREE_TYPE(from))) return false;
  if (TREE_CODE(from) == CONSTRUCTOR || !is_shared_memory(to) || !is_shared_memory(from)) return false;
  if (stmt_ends_bb_p(copy)) return false;
  if (TREE_ADDRESSABLE(TREE_TYPE(from))) {
    to = as_bytes(to, at);
    from = as_bytes(from, at);
  }
  tree between = temporary(TREE_TYPE(from));
  gsi_insert_before(at, assignment(between, unshare_expr(from), copy), GSI_SAME_STMT);
  gimple_assign_set_lhs(copy, to);
  gimple_assign_set_rhs1(copy, between);
  update_stmt(copy);
  return true;
}

// f(*p). Classes with constructors are passed by reference; other arguments are copied bitwise anyway.
bool copy_arguments(gcall* call, gimple_stmt_iterator* at) {
  bool changed = false;
  for (unsigned i = 0; i < gimple_call_num_args(call); ++i) {
    tree argument = gimple_call_arg(call, i);
    if (!is_shared_memory(argument)) continue;
    tree type = TREE_TYPE(argument);
    if (!has_constant_size(type) || TREE_ADDRESSABLE(type)) continue;
    tree copy = temporary(type);
    gsi_insert_before(at, assignment(copy, unshare_expr(argument), call), GSI_SAME_STMT);
    gimple_call_set_arg(call, i, copy);
    changed = true;
  }
  return changed;
}

// The hook of a store to the result, at a place that no iterator will pass.
gcall* result_hook(tree result) {
  tree object = get_base_address(result);
  tree size = fold_convert(size_type_node, TYPE_SIZE_UNIT(TREE_TYPE(object)));
  TREE_ADDRESSABLE(object) = 1;
  return gimple_build_call(declared(hook::write_range), 2, build_fold_addr_expr(object), size);
}

// *p = f(). A hook before the call would be too early, because the callee may switch. One after it would be too late
// for the undo log. A result that is returned by reference is written by the callee's own, hooked stores.
bool store_result_apart(gcall* call, gimple_stmt_iterator* at) {
  tree result = gimple_call_lhs(call);
  if (!result || TREE_CODE(result) == SSA_NAME || !(is_shared_memory(result) || is_result(result))) return false;
  tree type = TREE_TYPE(result);
  if (TREE_ADDRESSABLE(type) || !has_constant_size(type)) return false;
  edge normal_return = nullptr;
  if (stmt_ends_bb_p(call)) {
    normal_return = find_fallthru_edge(gimple_bb(call)->succs);
    if (!normal_return) return false;
  }

  tree returned = temporary(type);
  gassign* store = assignment(unshare_expr(result), returned, call);
  gimple_call_set_lhs(call, returned);
  if (TREE_CODE(returned) == SSA_NAME) SSA_NAME_DEF_STMT(returned) = call;
  gimple_call_set_return_slot_opt(call, false);
  if (normal_return) {
    if (is_result(result)) gsi_insert_on_edge(normal_return, result_hook(result));
    gsi_insert_on_edge(normal_return, store);
  } else {
    gsi_insert_after(at, store, GSI_SAME_STMT);
  }
  return true;
}

void hook_operand(tree hook, tree operand, gimple* statement, gimple_stmt_iterator* at) {
  tree address = build_fold_addr_expr(unshare_expr(operand));
  address = force_gimple_operand_gsi(at, address, true, NULL_TREE, true, GSI_SAME_STMT);
  tree size = fold_convert(size_type_node, TYPE_SIZE_UNIT(TREE_TYPE(operand)));
  gcall* call = gimple_build_call(hook, 2, address, size);
  gimple_set_location(call, gimple_location(statement));
  gsi_insert_before(at, call, GSI_SAME_STMT);
}

bool can_hook(tree operand) {
  return !is_gimple_reg(operand) && is_shared_memory(operand) && has_constant_size(TREE_TYPE(operand));
}

// va_start and va_copy are expanded into plain accesses of the lists.
bool hook_argument_lists(gcall* call, gimple_stmt_iterator* at) {
  const bool copies = gimple_call_builtin_p(call, BUILT_IN_VA_COPY);
  if (!copies && !gimple_call_builtin_p(call, BUILT_IN_VA_START)) return false;
  tree size = fold_convert(size_type_node, TYPE_SIZE_UNIT(va_list_type_node));
  const hook hooks[] = {hook::write_range, hook::read_range};
  for (unsigned i = 0; i < (copies ? 2 : 1); ++i) {
    gcall* made = gimple_build_call(declared(hooks[i]), 2, gimple_call_arg(call, i), size);
    gimple_set_location(made, gimple_location(call));
    gsi_insert_before(at, made, GSI_SAME_STMT);
  }
  return true;
}

// asm with memory operands. "+m" is an output and an input of the same memory, and gets one hook.
bool hook_asm(gasm* statement, gimple_stmt_iterator* at) {
  bool changed = false;
  auto is_output = [&](tree operand) {
    for (unsigned i = 0; i < gimple_asm_noutputs(statement); ++i) {
      if (operand_equal_p(TREE_VALUE(gimple_asm_output_op(statement, i)), operand, 0)) return true;
    }
    return false;
  };
  for (unsigned i = 0; i < gimple_asm_ninputs(statement); ++i) {
    tree operand = TREE_VALUE(gimple_asm_input_op(statement, i));
    if (!can_hook(operand) || is_output(operand)) continue;
    hook_operand(declared(hook::read_range), operand, statement, at);
    changed = true;
  }
  for (unsigned i = 0; i < gimple_asm_noutputs(statement); ++i) {
    tree operand = TREE_VALUE(gimple_asm_output_op(statement, i));
    if (!can_hook(operand)) continue;
    hook_operand(declared(hook::write_range), operand, statement, at);
    changed = true;
  }
  return changed;
}

// The memory of a result that the caller provides. The pass takes it for a local variable. It is private (see above),
// but an access without a hook could not be told from a forgotten one.
bool hook_result(gimple* statement, gimple_stmt_iterator* at) {
  if (!gimple_assign_single_p(statement) || gimple_clobber_p(statement)) return false;
  tree to = gimple_assign_lhs(statement), from = gimple_assign_rhs1(statement);
  const bool writes = is_result(to), reads = is_result(from);
  // The type of the object, not of the part, because a bit-field has no address.
  if (reads) hook_operand(declared(hook::read_range), get_base_address(from), statement, at);
  if (writes) hook_operand(declared(hook::write_range), get_base_address(to), statement, at);
  return reads || writes;
}

// The pass leaves out fields that have no address in the language: those of pointers to member functions. The hook then
// covers the whole pointer. (The pass handles bit-fields.)
tree holder_of_unaddressable(tree reference) {
  tree holder = NULL_TREE;
  for (; handled_component_p(reference); reference = TREE_OPERAND(reference, 0)) {
    if (TREE_CODE(reference) != COMPONENT_REF) continue;
    tree field = TREE_OPERAND(reference, 1);
    if (DECL_NONADDRESSABLE_P(field) && !DECL_BIT_FIELD(field)) holder = TREE_OPERAND(reference, 0);
  }
  return holder;
}

bool hook_unaddressable(gimple* statement, gimple_stmt_iterator* at) {
  if (!gimple_assign_single_p(statement) || gimple_clobber_p(statement)) return false;
  bool changed = false;
  auto examine = [&](tree reference, hook which) {
    tree holder = is_shared_memory(reference) ? holder_of_unaddressable(reference) : NULL_TREE;
    if (!holder || !has_constant_size(TREE_TYPE(holder))) return;
    hook_operand(declared(which), holder, statement, at);
    changed = true;
  };
  if (gimple_assign_load_p(statement)) examine(gimple_assign_rhs1(statement), hook::read_range);
  if (gimple_store_p(statement)) examine(gimple_assign_lhs(statement), hook::write_range);
  return changed;
}

bool rewrite(gimple_stmt_iterator* at) {
  gimple* statement = gsi_stmt(*at);
  if (is_gimple_assign(statement)) {
    return split_copy(at) || hook_unaddressable(statement, at) || hook_result(statement, at);
  }
  if (gasm* assembly = dyn_cast<gasm*>(statement)) return replace_pause(assembly, at) || hook_asm(assembly, at);
  gcall* call = dyn_cast<gcall*>(statement);
  if (!call || gimple_call_internal_p(call)) return false;
  bool changed = hook_argument_lists(call, at) || copy_arguments(call, at);
  changed |= redirect_builtin(call, at);
  changed |= store_result_apart(call, at);
  if (changed) update_stmt(gsi_stmt(*at));
  return changed;
}

// A stream's output and input begin with a sentry, which the program instantiates itself. An attempt ends there,
// because what the stream's precompiled parts do afterwards could not be undone.
bool is_sentry(function* fun) {
  const char* name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fun->decl));
  constexpr const char* sentries[] = {"_ZNSo6sentryC", "_ZNSi6sentryC"};
  for (const char* sentry : sentries) {
    if (startswith(name, sentry)) return true;
  }
  return false;
}

void announce_stream(function* fun) {
  constexpr char name[] = "stream";
  tree literal = build_string_literal(sizeof name, name);
  gimple_stmt_iterator at = gsi_after_labels(single_succ(ENTRY_BLOCK_PTR_FOR_FN(fun)));
  gcall* call = gimple_build_call(declared(hook::system_call), 1, literal);
  gimple_set_location(call, DECL_SOURCE_LOCATION(fun->decl));
  gsi_insert_before(&at, call, GSI_SAME_STMT);
}

const pass_data description = {GIMPLE_PASS, "txsync-hooks", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0,
                               0,           TODO_update_ssa};

class hooks_pass : public gimple_opt_pass {
 public:
  hooks_pass(gcc::context* context, bool optimizing) : gimple_opt_pass(description, context), optimizing_(optimizing) {}
  opt_pass* clone() final { return new hooks_pass(m_ctxt, optimizing_); }
  // GCC has one ThreadSanitizer pass for -O0 and another for the rest. This pass runs before both.
  bool gate(function* fun) final {
    return (flag_sanitize & SANITIZE_THREAD) != 0 && (optimize != 0) == optimizing_ &&
           !lookup_attribute("no_sanitize_thread", DECL_ATTRIBUTES(fun->decl));
  }
  unsigned execute(function* fun) final {
    basic_block block;
    bool changed = is_sentry(fun);
    if (changed) announce_stream(fun);
    FOR_EACH_BB_FN(block, fun) {
      for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) changed |= rewrite(&at);
    }
    if (!changed) return 0;
    gsi_commit_edge_inserts();
    mark_virtual_operands_for_renaming(fun);
    return 0;
  }

 private:
  bool optimizing_;
};

void insert_before(const char* plugin, const char* pass, bool optimizing) {
  register_pass_info where{};
  where.pass = new hooks_pass(g, optimizing);
  where.reference_pass_name = pass;
  where.ref_pass_instance_number = 1;
  where.pos_op = PASS_POS_INSERT_BEFORE;
  register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, nullptr, &where);
}

}  // namespace

int plugin_init(plugin_name_args* arguments, plugin_gcc_version* version) {
  if (!plugin_default_version_check(version, &gcc_version)) {
    fprintf(stderr, "txsync: this plugin was built for GCC %s; rebuild txsync with the compiler at hand\n",
            gcc_version.basever);
    return 1;
  }
  register_callback(arguments->base_name, PLUGIN_REGISTER_GGC_ROOTS, nullptr, const_cast<ggc_root_tab*>(roots));
  insert_before(arguments->base_name, "tsan", true);
  insert_before(arguments->base_name, "tsan0", false);
  return 0;
}
